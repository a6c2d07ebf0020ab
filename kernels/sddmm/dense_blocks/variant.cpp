#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/formats/dense_blocks/worth.hpp"
#include "kernels/sddmm/dense_blocks/plan.hpp"

namespace gnntune {
namespace sddmm_dense_blocks {

const std::vector<ParamField<DenseBlocksParams>>& DenseBlocksParams::fields() {
    static const std::vector<ParamField<DenseBlocksParams>> kFields{
        {"stages", &DenseBlocksParams::stages, {2, 3}},
        {"min_cells", &DenseBlocksParams::min_cells, {32, 128}},
    };
    return kFields;
}

Verdict DenseBlocksParams::legal(const Query& q, const DenseBlocksParams& p) {
    const auto bytes = kernels::widest_vector(q.problem) * static_cast<int>(size_of(q.problem.dtype));
    if (p.stages == 3 && bytes < 16) {
        return Verdict::no("three stages are for loads of 16 bytes, k=" + std::to_string(q.problem.k) + " has " +
                           std::to_string(bytes));
    }
    return kernels::require_shared_memory(q, shared_bytes(p.stages));
}

DenseBlocksParams DenseBlocksParams::defaults(const Query&) {
    return {};
}

namespace {

/// A block's edges are few products here, so that sparser blocks than spmm's are worth it.
constexpr std::int32_t kWorthCells = 32;

Verdict applicable(const Query& q) {
    const Verdict dense = formats::require_dense_blocks(q, kWorthCells);
    return dense ? kernels::require_shared_memory(q, shared_bytes(DenseBlocksParams::defaults(q).stages)) : dense;
}

std::vector<std::string_view> needed_formats(const Params& params) {
    return {formats::dense_blocks_format(from_params<DenseBlocksParams>(params).min_cells)};
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto plan = std::make_shared<Plan>();
    plan->params = from_params<DenseBlocksParams>(c.params);
    plan->blocks = c.graph.format_as<formats::DenseBlocksFormat>(formats::dense_blocks_format(plan->params.min_cells),
                                                                 p.direction, c.stream);
    plan->k = p.k;
    plan->dtype = p.dtype;
    plan->weighted = p.weighted;
    find_places(*plan, c.stream);
    return plan;
}

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& plan = *static_cast<const Plan*>(state);
    kernels::with_storage(plan.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(plan, operands, static_cast<cudaStream_t>(stream));
    });
}

// Eight blocks of a thread block have six to nine times 32 rows of both operands, and find the others in L1; all of
// their cells are multiplied. Edges outside of blocks gather a row each.
CostTerms cost_terms(const Query& q, const Params& params) {
    constexpr double kRowsOfBlock = 1.0 * formats::kDenseBlockSize;
    const auto p = from_params<DenseBlocksParams>(params);
    const auto m = static_cast<double>(q.m);
    const auto element = static_cast<double>(size_of(q.problem.dtype));
    const double row_bytes = element * q.problem.k;
    const BlockCount dense = formats::expected_dense_blocks(q, p.min_cells);
    const auto blocks = static_cast<double>(dense.blocks);
    const double rest = m - static_cast<double>(dense.edges);
    const double graph =
        (12.0 + 8.0 * formats::kDenseBlockSize) * blocks + 12.0 * rest + (element + kernels::weight_bytes(q)) * m;
    const double step = 64.0 / element;
    const auto steps = static_cast<double>(kernels::ceil_div(q.problem.k, static_cast<std::int64_t>(step)));
    CostTerms terms = kernels::gather_cost(q, graph);
    terms.l2_bytes = graph + (kRowsOfBlock * blocks + 2.0 * rest) * row_bytes;
    const double products = q.problem.dtype == DType::f32 ? 3.0 : 1.0;
    terms.flops = products * 2.0 * formats::kDenseBlockCells * blocks * step * steps + 2.0 * rest * q.problem.k;
    terms.threads = 32.0 * blocks + 8.0 * rest;
    terms.longest = steps;
    return terms;
}

}  // namespace
}  // namespace sddmm_dense_blocks

void register_sddmm_dense_blocks(Registry& registry) {
    Variant v;
    v.id = "sddmm.dense_blocks";
    v.version = 2;  // one branch for the epilogue of several cells
    v.summary = "dense blocks of 32 x 32 cells on tensor cores at the storage type's accuracy, other edges one by one";
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.min_compute_capability = 80;
    v.operand_alignment = 16;
    v.default_rank = 90;
    v.can = {.storage = kEveryStorage};
    v.applicable = &sddmm_dense_blocks::applicable;
    kernels::set_typed_params<sddmm_dense_blocks::DenseBlocksParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &sddmm_dense_blocks::needed_formats;
    v.prepare = &sddmm_dense_blocks::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &sddmm_dense_blocks::run;
    v.cost_terms = &sddmm_dense_blocks::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
