#include "core/ops/suite.hpp"
#include "tests/conformance/harness.hpp"

namespace gnntune::conformance {
namespace {

using Suite = void (*)(SuiteProblems&);
constexpr Suite kSuites[] = {
#define GNNTUNE_OP(name) &suite_of_##name,
    GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP
};

}  // namespace

std::vector<Problem> problems(Op op, const GraphCase& graph) {
    SuiteProblems out(op, {graph.large || scope() != Scope::full, scope() == Scope::once, graph.large, widths(graph)});
    kSuites[static_cast<std::size_t>(op)](out);
    return out.take();
}

bool exact_of_integers(const Problem& problem) {
    const bool sums = problem.op == Op::spmm || problem.op == Op::sddmm || problem.op == Op::spmm_grad;
    return sums && problem.reduce != Reduce::mean;
}

}  // namespace gnntune::conformance
