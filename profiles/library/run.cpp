#include "profiles/library/run.hpp"

#include <cstdint>
#include <string>

#include "core/common/error.hpp"

namespace gnntune::library {
namespace {

constexpr std::uintptr_t kWorkspaceAlignment = 256;

void check_operand(const char* name, const void* data, std::int64_t elements) {
    if (elements > 0 && !data) {
        throw invalid_argument(std::string("operands.") + name + " is NULL; expected " + std::to_string(elements) +
                               " elements");
    }
    if (reinterpret_cast<std::uintptr_t>(data) % sizeof(float) != 0) {
        throw invalid_argument(std::string("operands.") + name + " is not aligned to 4 bytes");
    }
}

void check_unwanted(const char* name, const void* data, const char* why) {
    if (!data) return;
    throw invalid_argument(std::string("operands.") + name + " must be NULL: " + why);
}

}  // namespace

Operands checked_operands(const Plan& plan, const Graph& graph, const gnntune_operands& given) {
    const Problem& problem = plan.problem();
    const bool reversed = problem.direction == Direction::reversed;
    const std::int64_t n_rows = reversed ? graph.n_cols() : graph.n_rows();
    const std::int64_t n_cols = reversed ? graph.n_rows() : graph.n_cols();
    const std::int64_t width = std::int64_t{problem.k} * problem.heads;
    // Without edges nothing is gathered: an empty tensor's null pointer is fine then.
    check_operand("x", given.x, graph.m() > 0 ? n_cols * width : 0);
    if (problem.op == Op::sddmm) {
        check_operand("x_row", given.x_row, graph.m() > 0 ? n_rows * width : 0);
        check_operand("y", given.y, graph.m());
    } else {
        check_unwanted("x_row", given.x_row, "only sddmm has it");
        check_operand("y", given.y, n_rows * width);
    }
    if (problem.weighted) {
        check_operand("edge_weight", given.edge_weight, graph.m());
    } else {
        check_unwanted("edge_weight", given.edge_weight, "the plan was made for a problem that is not weighted");
    }
    return {static_cast<const float*>(given.x), static_cast<const float*>(given.x_row),
            static_cast<const float*>(given.edge_weight), static_cast<float*>(given.y)};
}

void check_workspace(const Plan& plan, const void* workspace, std::size_t bytes) {
    const std::size_t needed = plan.workspace_bytes();
    if (needed == 0) return;
    if (bytes < needed) {
        throw invalid_argument("the workspace has " + std::to_string(bytes) + " bytes, " + plan.config().text() +
                               " needs " + std::to_string(needed) + "; ask gnntune_plan_workspace_bytes");
    }
    if (!workspace) throw invalid_argument("workspace is NULL; expected " + std::to_string(needed) + " bytes");
    if (reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
        throw invalid_argument("the workspace is not aligned to 256 bytes");
    }
}

}  // namespace gnntune::library
