#include <algorithm>
#include <cmath>

#include "core/registry/graph.hpp"
#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/formats/dense_blocks/worth.hpp"
#include "kernels/spmm/dense_blocks/plan.hpp"

namespace gnntune {
namespace spmm_dense_blocks {

const std::vector<ParamField<DenseBlocksParams>>& DenseBlocksParams::fields() {
    static const std::vector<ParamField<DenseBlocksParams>> kFields{
        {"tile", &DenseBlocksParams::tile, {32, 64, 128}},
        {"chunk", &DenseBlocksParams::chunk, {16, 32}},
        {"min_cells", &DenseBlocksParams::min_cells, {8, 32}},
    };
    return kFields;
}

namespace {

Verdict has_memory(const Query& q, const DenseBlocksParams& p) {
    return kernels::require_shared_memory(q, shared_bytes(p.tile, size_of(q.problem.dtype), q.problem.weighted));
}

}  // namespace

Verdict DenseBlocksParams::legal(const Query& q, const DenseBlocksParams& p) {
    const std::int32_t k = q.problem.k;
    if (p.tile > 32 && p.tile / 2 >= k) return Verdict::no("half the tile holds k=" + std::to_string(k) + " already");
    if (p.tile == 32 && k > 32) return Verdict::no("tile=32 is for k up to 32: each tile reads the graph again");
    return has_memory(q, p);
}

namespace {

/// Blocks of fewer than 32 cells, one by one, take longer than their edges where they are most of all blocks. Elsewhere
/// the edges do: some row has many of them. README.md has what that is worth.
constexpr std::int64_t kManySparseBlocks = 3;

int min_cells_for(const Query& q) {
    if (!q.features) return 8;
    const auto blocks = [&](int min_cells) { return formats::expected_dense_blocks(q, min_cells).blocks; };
    return blocks(8) >= kManySparseBlocks * blocks(32) ? 32 : 8;
}

}  // namespace

bool DenseBlocksParams::searched(const Query& q, const DenseBlocksParams& p) {
    return !q.features || p.min_cells == min_cells_for(q);
}

DenseBlocksParams DenseBlocksParams::defaults(const Query& q) {
    DenseBlocksParams p;
    p.tile = q.problem.k <= 32 ? 32 : q.problem.k <= 64 ? 64 : 128;
    p.min_cells = min_cells_for(q);
    return p;
}

namespace {

using formats::kDenseBlockCells;

/// Of 77 graphs, those with fewer edges in such blocks had another variant at least 1.25x faster at every width.
constexpr std::int32_t kWorthCells = 128;

Verdict applicable(const Query& q) {
    const Verdict dense = formats::require_dense_blocks(q, kWorthCells);
    return dense ? has_memory(q, DenseBlocksParams::defaults(q)) : dense;
}

// The degrees of the mean are those of the CSR format, and the blocks' edges may stand in its order.
std::vector<std::string_view> needed_formats(const Params& params) {
    return {kFormatCsr, formats::dense_blocks_format(from_params<DenseBlocksParams>(params).min_cells)};
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto plan = std::make_shared<Plan>();
    plan->params = from_params<DenseBlocksParams>(c.params);
    plan->blocks = c.graph.format_as<formats::DenseBlocksFormat>(formats::dense_blocks_format(plan->params.min_cells),
                                                                 p.direction, c.stream);
    if (p.reduce == Reduce::mean) plan->csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    plan->k = p.k;
    plan->dtype = p.dtype;
    plan->weighted = p.weighted;
    plan->self_loop = p.self_loop;
    cut_block_rows(*plan, c.stream);
    return plan;
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

/// Blocks that a thread block could multiply while it waits for its first one and writes its sums.
constexpr double kPieceBlocks = 6;

// Each block copies its rows of x once, and all of its cells are multiplied; edges outside of blocks gather a row each.
CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<DenseBlocksParams>(params);
    const auto m = static_cast<double>(q.m);
    const auto passes = static_cast<double>(kernels::ceil_div(q.problem.k, p.tile));
    const BlockCount dense = formats::expected_dense_blocks(q, p.min_cells);
    const auto blocks = static_cast<double>(dense.blocks);
    const double rest = m - static_cast<double>(dense.edges);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k;
    const auto rows = static_cast<double>(q.n_rows);
    const double graph = passes * (4.0 + 8.0 * formats::kDenseBlockSize) * blocks +
                         passes * kernels::weight_bytes(q) * (m - rest) + (8.0 + kernels::weight_bytes(q)) * rest;
    CostTerms terms = kernels::gather_cost(q, graph);
    terms.l2_bytes = graph + (formats::kDenseBlockSize * blocks + rest + rows + kernels::loop_rows(q)) * row_bytes;
    const double products = q.problem.dtype != DType::f32 ? 1.0 : q.problem.weighted ? 3.0 : 2.0;
    terms.flops = products * 2.0 * kDenseBlockCells * blocks * passes * p.tile + 2.0 * rest * q.problem.k;
    const double block_rows = std::max(1.0, std::ceil(rows / formats::kDenseBlockSize));
    const double pieces = std::max(1.0, std::ceil(blocks / block_rows / p.chunk));  // of a block row of mean width
    terms.longest = blocks / block_rows / pieces;
    if (blocks > 0) terms.flops *= 1.0 + kPieceBlocks / terms.longest;
    terms.threads = static_cast<double>(p.tile + 96) * block_rows * pieces * passes;
    if (rest > 0) {
        terms.launches += 1;
        terms.l2_bytes += 2.0 * 4.0 * q.problem.k * std::min(rows, rest);
    }
    if (pieces > 1) {
        terms.launches += 1;
        terms.l2_bytes += 2.0 * 4.0 * q.problem.k * formats::kDenseBlockSize * block_rows * pieces;
    }
    return terms;
}

}  // namespace
}  // namespace spmm_dense_blocks

void register_spmm_dense_blocks(Registry& registry) {
    Variant v;
    v.id = "spmm.dense_blocks";
    v.summary = "dense blocks of 32 x 32 cells on tensor cores at the storage type's accuracy, other edges one by one";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.min_compute_capability = 90;
    v.version = 2;  // a row is written by one function, with its self loop
    v.default_rank = 90;
    v.preferred = &kernels::suits_spmm<kernels::SpmmVariant::dense_blocks>;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    v.applicable = &spmm_dense_blocks::applicable;
    kernels::set_typed_params<spmm_dense_blocks::DenseBlocksParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &spmm_dense_blocks::needed_formats;
    v.prepare = &spmm_dense_blocks::prepare;
    v.workspace_bytes = &spmm_dense_blocks::workspace;
    v.launch = &spmm_dense_blocks::run;
    v.cost_terms = &spmm_dense_blocks::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
