// Variants that are wrong on purpose: they prove that the conformance suite can fail. Never part of a build's registry.
#pragma once

#include <string>
#include <vector>

#include "core/registry/registry.hpp"

namespace gnntune::conformance {

struct FaultyVariant {
    Variant variant;
    std::string caught_by;  ///< the check that has to reject it
};

/// All wrong variants of one backend.
std::vector<FaultyVariant> faulty_variants(Backend backend);

}  // namespace gnntune::conformance
