#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/max_binned/launch.hpp"

namespace gnntune {
namespace spmm_max_binned {

const std::vector<ParamField<MaxParams>>& MaxParams::fields() {
    static const std::vector<ParamField<MaxParams>> kFields{
        {"lanes", &MaxParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &MaxParams::vec, {1, 2, 4, 8}},
        {"items", &MaxParams::items, {1, 2}},
        {"share", &MaxParams::share, {8, 32}},
        {"warps_per_block", &MaxParams::warps_per_block, {4, 16}},
    };
    return kFields;
}

Verdict MaxParams::legal(const Query& q, const MaxParams& p) {
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    const Verdict tile = kernels::require_useful_tile(q.problem.k, p.lanes, p.items, p.vec);
    if (!tile) return tile;
    if (p.items == 2) {
        if (p.vec * size_of(q.problem.dtype) != 16)
            return Verdict::no("two vectors of a lane are for loads of 16 bytes");
        if (kernels::tile_width(p.lanes, p.items, p.vec) < std::min(q.problem.k, 64)) {
            return Verdict::no("tiles of two vectors a lane are searched from 64 features on");
        }
        // A product and a place of every feature of a tile for each warp.
        if (p.warps_per_block * p.lanes * p.items * p.vec * 8 > kernels::kUnaskedSharedBytes) {
            return Verdict::no("so wide a tile has blocks of 4 warps only");
        }
    }
    return kernels::require_grid(p.shape().most_blocks(q.n_rows, q.m));
}

// Those of spmm.binned, which gathers alike.
MaxParams MaxParams::defaults(const Query& q) {
    MaxParams p;
    p.vec = kernels::widest_vector(q.problem);
    const bool whole = p.vec * size_of(q.problem.dtype) == 16;
    const kernels::BinnedSuit suit = kernels::binned_suit(kernels::spmm_load(q), p.vec, whole ? 2 : 1);
    p.lanes = suit.lanes;
    p.items = suit.items;
    p.share = suit.share;
    p.warps_per_block = suit.warps_per_block;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<MaxParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, params.shape());
    return std::make_shared<State>(State{std::move(csr), std::move(rows), params, p.k, p.weighted, p.dtype});
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<MaxParams>(params);
    const auto tiles = kernels::ceil_div(q.problem.k, kernels::tile_width(p.lanes, p.items, p.vec));
    const double order_bytes = 4.0 * static_cast<double>(q.n_rows);
    CostTerms terms = kernels::gather_cost(q, (kernels::csr_bytes(q) + order_bytes) * static_cast<double>(tiles));
    const double argmax = static_cast<double>(q.n_rows) * kernels::argmax_row_bytes(q);
    terms.dram_bytes += argmax;
    terms.l2_bytes += argmax;
    p.shape().add_cost(kernels::row_classes(q), 8 / p.items, static_cast<double>(tiles), terms);
    return terms;
}

}  // namespace
}  // namespace spmm_max_binned

void register_spmm_max_binned(Registry& registry) {
    Variant v;
    v.id = "spmm.max_binned";
    v.version = 3;  // winners as places, one comparison for each element, 64 registers
    v.summary = "the maximum and its edges: rows binned by degree in one launch, no atomics";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 5;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::max}};
    kernels::set_typed_params<spmm_max_binned::MaxParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_rows_by_degree;
    v.prepare = &spmm_max_binned::prepare;
    v.workspace_bytes = &spmm_max_binned::workspace;
    v.launch = &spmm_max_binned::run;
    v.cost_terms = &spmm_max_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
