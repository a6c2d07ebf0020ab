#include <algorithm>

#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/common/edge_dots.hpp"
#include "kernels/sddmm/edges/launch.hpp"

namespace gnntune {
namespace sddmm_edges {

const std::vector<ParamField<EdgesParams>>& EdgesParams::fields() {
    static const std::vector<ParamField<EdgesParams>> kFields{
        {"lanes", &EdgesParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &EdgesParams::vec, {1, 2, 4, 8}},
        {"unroll", &EdgesParams::unroll, {1, 2, 4}},
    };
    return kFields;
}

Verdict EdgesParams::legal(const Query& q, const EdgesParams& p) {
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    if (q.problem.heads > 1 && p.unroll == 2) return Verdict::no("heads are compiled for one edge and for four");
    const std::int64_t vectors = kernels::ceil_div(q.problem.k, p.vec);
    if (p.lanes > kernels::next_power_of_two(static_cast<std::int32_t>(vectors))) {
        return Verdict::no("more lanes than the " + std::to_string(vectors) + " vectors of a row");
    }
    if (std::int64_t{p.lanes} * 8 < std::min<std::int64_t>(vectors, 32)) {
        return Verdict::no("too few lanes for the " + std::to_string(vectors) + " vectors of a row");
    }
    return kernels::require_grid(
        kernels::ceil_div(q.m * q.problem.heads, std::int64_t{kernels::kEdgeDotThreads / p.lanes} * p.unroll));
}

// A little work wants every edge in a group of its own; the limit is the coarse best of 168 problems (README.md).
EdgesParams EdgesParams::defaults(const Query& q) {
    EdgesParams p;
    p.vec = kernels::widest_vector(q.problem);
    p.lanes = kernels::edge_dot_lanes(q.problem.k, p.vec);
    p.unroll = static_cast<double>(q.m) * q.problem.heads * q.problem.k < 3e6 ? 1 : 4;
    return p;
}

namespace {

using State = kernels::PlanState<EdgesParams, CooFormat>;

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    if (s.graph->m == 0) return;
    auto* cuda_stream = static_cast<cudaStream_t>(stream);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(*s.graph, s.params, s.k, s.heads, s.weighted, operands, cuda_stream);
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    // Of all edges, a value for each head.
    const double values = static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.heads;
    CostTerms terms = kernels::gather_cost(q, kernels::coo_bytes(q) + values);
    terms.l2_bytes += values * q.problem.k;
    return terms;
}

}  // namespace
}  // namespace sddmm_edges

void register_sddmm_edges(Registry& registry) {
    Variant v;
    v.id = "sddmm.edges";
    v.version = 3;  // no branch for each edge where its vectors are loaded
    v.summary = "a group of lanes for a few consecutive edges, 128-bit loads, sums scattered over the lanes";
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.can = {.storage = kEveryStorage, .heads = true};
    kernels::set_typed_params<sddmm_edges::EdgesParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_plan_state<sddmm_edges::EdgesParams, CooFormat, kFormatCoo>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &sddmm_edges::run;
    v.cost_terms = &sddmm_edges::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
