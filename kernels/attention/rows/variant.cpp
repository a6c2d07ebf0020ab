#include "kernels/attention/rows/launch.hpp"
#include "kernels/common/dot_attention.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/team_cost.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace attention_rows {
namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return std::make_shared<State>(kernels::plan_attend(c, from_params<kernels::TileTeamParams>(c.params)));
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::piece_results_bytes(s.slots(), s.heads, s.k);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::TileTeamParams>(params);
    const double tiles = kernels::feature_tiles(q, p.lanes, p.items);
    CostTerms terms = kernels::dot_attention_cost(q, kernels::csr_bytes(q) * tiles);
    // Every tile reads all of key, and its own part of x.
    terms.l2_bytes += static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.k *
                      q.problem.heads * (tiles - 1.0);
    terms.flops *= 0.5 + 0.5 * tiles;
    kernels::add_team_cost(kernels::row_classes(q), {p.lanes * p.split, p.lanes, 2}, tiles * q.problem.heads, terms);
    return terms;
}

}  // namespace
}  // namespace attention_rows

void register_attention_rows(Registry& registry) {
    Variant v;
    v.id = "attention.rows";
    v.version = 3;  // one kernel for runs with and without dropout
    v.summary = "a team of threads per row and head, query in registers, running softmax, no atomics";
    v.op = Op::attention;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.can = kernels::kAttention;
    v.applicable = &kernels::require_pass_grid;
    kernels::set_typed_params<kernels::TileTeamParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &attention_rows::prepare;
    v.workspace_bytes = &attention_rows::workspace_bytes;
    v.launch = &attention_rows::run;
    v.cost_terms = &attention_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
