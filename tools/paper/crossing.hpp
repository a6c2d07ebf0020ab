// Where GAS and GAR cross: for raw COO, which of the two is cheaper over how many calls. From the database alone, by
// the rule that chooses configs (core/dispatch/choose.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/paper/evidence.hpp"

namespace gnntune::tools::paper {

struct Crossing {
    std::string graph;
    std::int64_t n_rows = 0;
    std::int64_t m = 0;
    Problem problem;
    // The fastest config of each, and what it needs built from COO before its first call. Microseconds.
    double gas_us = 0;
    double gar_us = 0;
    double gas_build_us = 0;
    double gar_build_us = 0;
    std::vector<std::string> winners;     ///< for each of the calls asked for: "gas", "gar", or "tied" within the noise
    std::optional<double> calls_for_gar;  ///< from so many calls on GAR is cheaper; nothing: never
    bool few_samples = false;             ///< one of the two was given up early by the tuner
};

/// Every graph and problem of the source on which both were timed and what their formats cost from COO is known, in
/// order of mean degree and problem.
std::vector<Crossing> crossings(Evidence& evidence, const Source& source, const std::vector<double>& calls);

}  // namespace gnntune::tools::paper
