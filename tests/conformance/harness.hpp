// Runs one config on one graph and applies every check that the design asks of a variant. Knows no variant by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/registry/graph.hpp"
#include "tests/conformance/cases.hpp"

namespace gnntune::conformance {

/// The checks, by the names that failures carry.
///   record       applicability, space, default and validity agree with each other
///   runs         nothing throws
///   oracle       every element within tolerance of the double-precision reference
///   written      no element keeps the poison it had before the run
///   guards       words around the output and the workspace are untouched
///   inputs       operands are unchanged
///   traps        no floating-point division by zero, invalid operation or overflow that finite inputs and logits of
///                -infinity do not ask for (cpu)
///   left out     the same without the outputs that may be null
///   repeats      a config that says so repeats bit for bit
///   misaligned   right with operands at 4-byte alignment, or refused where the record asks for more
///   infinities   infinite features reach those rows only that have an edge from them, an infinite edge weight its own
///                row only (spmm, but for records that say otherwise, and libraries)
///   integers     equal where inputs are small integers, whose sums no order of summation rounds (sums and maxima of spmm,
///                sddmm, spmm_grad)
///   epilogues    right with every activation, with a scale and a slope, of infinite features too (sddmm)
///   seed         a seed_offset, which lies in the backend's memory, has the mask of its sum with the seed (ops with
///                dropout)
///   executes     a variant runs on some graph (check_executes() alone)
///   capture      captured in a CUDA graph and replayed with other values, and another seed_offset (cuda)
struct Failure {
    std::string check;
    std::string detail;
};

struct Outcome {
    std::vector<Failure> failures;
    int configs = 0;  ///< configs that ran on the device
};

/// Problems of `op` to try on a graph: widths, heads, weighted, direction, self loops and reductions as far as the op
/// has them.
std::vector<Problem> problems(Op op, const GraphCase& graph);

/// Whether small integers leave nothing to round in the problem but the result.
bool exact_of_integers(const Problem& problem);

/// The default and a set of params in which every value of every field stands at least once. For a composition also,
/// for each part, every variant of the graph's registry that can be it, with its default params.
std::vector<Params> corners(const Graph& graph, const Variant& variant, const Query& query);

/// Checks that need no device: the record's functions agree. Empty if they do.
std::vector<Failure> check_record(const Registry& registry, const Variant& variant, const Query& query);

/// Runs every corner of `variant` on every problem of the case and applies all checks. Refused problems must give a
/// reason and run nothing.
Outcome run_case(const Registry& registry, const Device& device, const Variant& variant, const GraphCase& graph);
/// The same on these problems.
Outcome run_case(const Registry& registry, const Device& device, const Variant& variant, const GraphCase& graph,
                 const std::vector<Problem>& on);

/// Runs the default of `variant` on the first graph and problem that it takes. A failure where there is none, with every
/// reason that it gave: a variant that refuses everything passes all other checks.
std::vector<Failure> check_executes(const Registry& registry, const Device& device, const Variant& variant);

}  // namespace gnntune::conformance
