#include "kernels/common/typed_variant.hpp"
#include "kernels/formats/sgt/window_warps.hpp"
#include "kernels/sddmm/tcgnn/launch.hpp"

namespace gnntune {
namespace sddmm_tcgnn {

const std::vector<ParamField<TcgnnParams>>& TcgnnParams::fields() {
    static const std::vector<ParamField<TcgnnParams>> kFields{
        {"warps_per_block", &TcgnnParams::warps_per_block, kernels::window_warp_counts()},
        {"tiles_per_warp", &TcgnnParams::tiles_per_warp, {1, 2, 4}},
    };
    return kFields;
}

Verdict TcgnnParams::legal(const Query& q, const TcgnnParams& p) {
    if (p.tiles_per_warp > 1 && 8 * p.tiles_per_warp >= q.problem.k) {
        return Verdict::no("half of " + std::to_string(p.tiles_per_warp) +
                           " tiles hold k=" + std::to_string(q.problem.k) + " already");
    }
    const Verdict memory = kernels::require_shared_memory(q, shared_bytes(q.problem.k, p));
    if (!memory) return memory;
    return kernels::require_grid(kernels::ceil_div(q.n_rows, kernels::kWindowRows));
}

TcgnnParams TcgnnParams::defaults(const Query& q) {
    TcgnnParams p;
    p.warps_per_block = kernels::paper_window_warps(q);
    while (p.tiles_per_warp < 4 && 16 * p.tiles_per_warp < q.problem.k) p.tiles_per_warp *= 2;
    // Devices with less shared memory than a Hopper SM has.
    while (p.warps_per_block > 1 && !legal(q, p)) p.warps_per_block /= 2;
    return p;
}

namespace {

using State = kernels::PlanState<TcgnnParams, SgtFormat>;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    allow_shared_memory(from_params<TcgnnParams>(c.params));
    return kernels::prepare_plan_state<TcgnnParams, SgtFormat, kFormatSgt>(c);
}

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    launch(*s.graph, s.params, s.k, s.weighted, operands, stream);
}

// Rows of x once per 16 x 16 tile, rows of x_row once per window, one scattered value for each edge and segment.
CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<TcgnnParams>(params);
    const auto segments =
        static_cast<double>(kernels::ceil_div(q.problem.k, segment_features(q.problem.k, p.tiles_per_warp)));
    const double edges = static_cast<double>(q.m);
    const double graph = kernels::sgt_bytes(q, true) + edges * (q.problem.weighted ? 8.0 : 4.0);
    const double blocks = kernels::expected_tc_blocks(q);
    const double row_bytes = 4.0 * q.problem.k;
    CostTerms terms = kernels::gather_cost(q, graph * segments);
    terms.l2_bytes = graph * segments + (8.0 * blocks + static_cast<double>(q.n_rows)) * row_bytes;
    terms.flops = 2.0 * 16 * 8 * blocks * 8.0 * static_cast<double>(kernels::ceil_div(q.problem.k, 8));
    return terms;
}

}  // namespace
}  // namespace sddmm_tcgnn

void register_sddmm_tcgnn(Registry& registry) {
    Variant v;
    v.id = "sddmm.tcgnn";
    v.summary = "TC-GNN: 16 x 16 tiles from pairs of TC blocks on tensor cores (TF32)";
    v.version = 2;  // the weight is multiplied with the whole product, not with parts of it
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.precision = Precision::tf32;
    v.min_compute_capability = 80;
    v.default_rank = 90;
    kernels::set_typed_params<sddmm_tcgnn::TcgnnParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_sgt;
    v.prepare = &sddmm_tcgnn::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &sddmm_tcgnn::run;
    v.cost_terms = &sddmm_tcgnn::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
