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

}  // namespace gnntune::conformance
