// The graphs and widths that every variant has to get right. Names are what a failing test prints.
#pragma once

#include <string>
#include <vector>

#include "core/graph/types.hpp"

namespace gnntune::conformance {

struct GraphCase {
    std::string name;
    CooGraph edges;       ///< in the order in which a caller would hand them in
    bool as_coo = false;  ///< handed in as COO in that order, else as CSR
    bool large = false;   ///< run with a few widths only
};

/// Every case, built once. Deterministic.
const std::vector<GraphCase>& graph_cases();

/// Feature dimensions: 1, primes, odd, multiples of 2, 4, 16 and the paper's 602. Fewer for large graphs.
std::vector<std::int32_t> widths(const GraphCase& graph);

}  // namespace gnntune::conformance
