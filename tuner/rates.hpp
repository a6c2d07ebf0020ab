// Fits the rates of a rough estimate (core/model/rough_time.hpp).
#pragma once

#include <vector>

#include "core/model/rough_time.hpp"

namespace gnntune::tuner {

/// A config that was timed.
struct RoughRow {
    model::RoughTerms terms{};
    double us = 0;
    double weight = 0;
};

/// kRoughTerms rates, none below 0, with the least squares of the relative error. The same for the same rows.
std::vector<float> fit_rates(const std::vector<RoughRow>& rows);

}  // namespace gnntune::tuner
