// Variants that are wrong on purpose: they prove that the conformance suite can fail. Never part of a build's registry.
#pragma once

#include <string>
#include <vector>

#include "core/registry/registry.hpp"

namespace gnntune::conformance {

struct FaultyVariant {
    Variant variant;
    std::string caught_by;  ///< the check that has to reject it
    bool on_hubs = false;   ///< wrong on rows longer than any of the small graphs has, and no other check may see it
};

/// All wrong variants of one backend.
std::vector<FaultyVariant> faulty_variants(Backend backend);

// Their parts, a file each.
std::vector<FaultyVariant> faulty_variants_on_cpu();
std::vector<FaultyVariant> faulty_variants_on_hubs();  ///< of the CPU too
std::vector<FaultyVariant> faulty_variants_on_cuda();  ///< in builds with CUDA

}  // namespace gnntune::conformance
