// The graphs and widths that every variant has to get right. Names are what a failing test prints.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::conformance {

struct GraphCase {
    std::string name;
    test::CooGraph edges;  ///< in the order in which a caller would hand them in
    bool as_coo = false;   ///< handed in as COO in that order, else as CSR
    bool large = false;    ///< run with a few widths only
    bool rising = false;   ///< one problem has logits that rise with the vertex
};

/// What the cases are called.
const std::vector<std::string>& graph_names();
/// One of them, made when it is first asked for. Deterministic. Throws std::invalid_argument for another name.
const GraphCase& graph_case(const std::string& name);

/// How much of the suite runs, for tools that slow kernels down: the environment variable GNNTUNE_CONFORMANCE_SHORT.
enum class Scope {
    full,
    shorter,  ///< 1: fewer widths, which still cross every code path; for a sanitizer that is ten times slower
    once,  ///< races: two widths, each config once, forward, of standard parts; for racecheck, a thousand times slower
};
Scope scope();

/// Feature dimensions: 1, primes, odd, multiples of 2, 4, 16 and the paper's 602. Fewer for large graphs.
std::vector<std::int32_t> widths(const GraphCase& graph);

}  // namespace gnntune::conformance
