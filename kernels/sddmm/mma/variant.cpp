#include <algorithm>
#include <cmath>

#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/mma/launch.hpp"

namespace gnntune {
namespace sddmm_mma {

const std::vector<ParamField<MmaParams>>& MmaParams::fields() {
    static const std::vector<ParamField<MmaParams>> kFields{
        {"vec", &MmaParams::vec, {1, 2, 4, 8}},
        {"chunk", &MmaParams::chunk, {4, 8}},
    };
    return kFields;
}

namespace {

double windows_of(const Query& q) {
    return static_cast<double>(std::max<std::int64_t>(1, kernels::ceil_div(q.n_rows, kernels::kWindowRows)));
}

}  // namespace

Verdict MmaParams::legal(const Query& q, const MmaParams& p) {
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    if (p.chunk == 8 && p.vec != widest(q.problem.dtype)) {
        return Verdict::no("eight TC blocks at once are for loads of 16 bytes");
    }
    return kernels::require_grid(kernels::most_pieces(q, p.chunk));
}

// Twice the TC blocks for each row of x_row that is loaded, where windows have that many; the registers of eight leave
// room for fewer warps.
MmaParams MmaParams::defaults(const Query& q) {
    MmaParams p;
    p.vec = kernels::widest_vector(q.problem);
    if (p.vec == widest(q.problem.dtype) && kernels::expected_tc_blocks(q) > 4.0 * windows_of(q)) p.chunk = 8;
    return p;
}

namespace {

std::shared_ptr<const void> make_plan(const PrepareContext& c, bool single_pass) {
    const Problem& p = c.query.problem;
    auto plan = std::make_shared<Plan>();
    plan->sgt = c.graph.format_as<SgtFormat>(kFormatSgt, p.direction, c.stream);
    plan->params = from_params<MmaParams>(c.params);
    plan->k = p.k;
    plan->dtype = p.dtype;
    plan->weighted = p.weighted;
    plan->single_pass = single_pass;
    std::vector<kernels::BlockRange> pieces;
    kernels::for_each_piece(*plan->sgt, plan->params.chunk, c.stream, [&](const kernels::BlockRange& range, int, int) {
        if (range.begin < range.end) pieces.push_back(range);
    });
    plan->pieces = to_device(pieces.data(), pieces.size());
    return plan;
}
std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return make_plan(c, false);
}
std::shared_ptr<const void> prepare_single_pass(const PrepareContext& c) {
    return make_plan(c, true);
}

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& plan = *static_cast<const Plan*>(state);
    kernels::with_storage(plan.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(plan, operands, static_cast<cudaStream_t>(stream));
    });
}

// A row of x for each column of a TC block, the window's rows of x_row for each piece; all cells are multiplied.
CostTerms cost_of(const Query& q, const Params& params, double products) {
    const auto p = from_params<MmaParams>(params);
    const auto element = static_cast<double>(size_of(q.problem.dtype));
    const double row_bytes = element * q.problem.k;
    const double blocks = kernels::expected_tc_blocks(q);
    const double windows = windows_of(q);
    const double pieces = std::max(1.0, std::ceil(blocks / windows / p.chunk)) * windows;
    const double graph = kernels::sgt_bytes(q, true) + sizeof(kernels::BlockRange) * pieces +
                         (element + kernels::weight_bytes(q)) * static_cast<double>(q.m);
    const int step = 4 * widest(q.problem.dtype);
    const auto steps = static_cast<double>(kernels::ceil_div(q.problem.k, step));
    CostTerms terms = kernels::gather_cost(q, graph);
    terms.l2_bytes = graph + (kernels::kBlockColumns * blocks + kernels::kWindowRows * pieces) * row_bytes;
    terms.flops = products * 2.0 * kernels::kWindowRows * kernels::kBlockColumns * blocks * step * steps;
    terms.threads = 32.0 * pieces;
    terms.longest = steps;
    return terms;
}
CostTerms cost_terms(const Query& q, const Params& params) {
    return cost_of(q, params, q.problem.dtype == DType::f32 ? 3.0 : 1.0);
}
CostTerms cost_terms_single_pass(const Query& q, const Params& params) {
    return cost_of(q, params, 1.0);
}

Variant record() {
    Variant v;
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.min_compute_capability = 80;
    v.operand_alignment = 16;
    v.default_rank = 90;
    kernels::set_typed_params<MmaParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_sgt;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &run;
    return v;
}

}  // namespace
}  // namespace sddmm_mma

void register_sddmm_mma(Registry& registry) {
    Variant v = sddmm_mma::record();
    v.id = "sddmm.mma";
    v.summary = "windows of 16 rows on tensor cores at the storage type's accuracy: fp32 by three TF32 products";
    v.can = {.storage = kEveryStorage};
    v.prepare = &sddmm_mma::prepare;
    v.cost_terms = &sddmm_mma::cost_terms;
    registry.add(v);

    v.id = "sddmm.mma_tf32";
    v.summary = "windows of 16 rows on tensor cores, operands rounded to TF32";
    v.precision = Precision::tf32;
    v.can = {};
    v.prepare = &sddmm_mma::prepare_single_pass;
    v.cost_terms = &sddmm_mma::cost_terms_single_pass;
    registry.add(v);
}

}  // namespace gnntune
