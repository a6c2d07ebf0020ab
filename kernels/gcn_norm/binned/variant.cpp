#include "core/registry/graph.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gcn_norm/binned/launch.hpp"
#include "kernels/gcn_norm/common/gcn_norm.hpp"

namespace gnntune {
namespace gcn_norm_binned {

const std::vector<ParamField<NormParams>>& NormParams::fields() {
    static const std::vector<ParamField<NormParams>> kFields{
        {"kernels", &NormParams::kernels, {1, 2}},
        {"lanes", &NormParams::lanes, {2, 4, 8}},
        {"walk", &NormParams::walk, {kByRows, kByColumns}, {"rows", "columns"}},
    };
    return kFields;
}

Verdict NormParams::legal(const Query& q, const NormParams& p) {
    if (q.problem.weighted && p.kernels == 1) {
        return Verdict::no("a weighted degree is a sum over a row: one kernel would repeat it for every edge");
    }
    if (p.walk == kByColumns && q.problem.direction == Direction::forward) {
        return Verdict::no("walk=columns is for reversed problems, whose columns are in the caller's order");
    }
    return kernels::require_grid(shape_of(p).most_blocks(q.n_rows, q.m));
}

// Half a row or more in one round of a team, so that few of its threads stand idle. A second launch costs about as much
// as the second row pointer of a million edges.
NormParams NormParams::defaults(const Query& q) {
    NormParams p;
    p.lanes = q.m <= 4 * q.n_rows ? 2 : q.m <= 16 * q.n_rows ? 4 : 8;
    p.kernels = q.problem.weighted || q.m >= 1'000'000 ? 2 : 1;
    p.walk = q.problem.direction == Direction::reversed ? kByColumns : kByRows;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<NormParams>(c.params);
    const bool by_rows = params.walk == kByRows;
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, shape_of(params));
    auto walk = by_rows ? csr : c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    auto walk_rows = by_rows ? rows : kernels::bin_columns(c, shape_of(params));
    return std::make_shared<State>(
        State{std::move(csr), std::move(rows), std::move(walk), std::move(walk_rows), params, p.weighted, p.dtype});
}

std::vector<std::string_view> formats(const Params& params) {
    return from_params<NormParams>(params).walk == kByRows ? kernels::needs_rows_by_degree(params)
                                                           : kernels::needs_both_by_degree(params);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

// The order of the rows beside what any variant over CSR reads. Only weighted rows have pieces to merge.
CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<NormParams>(params);
    const kernels::BinShape shape = shape_of(p);
    CostTerms terms = kernels::gcn_norm_cost(q, kernels::csr_bytes(q) + 4.0 * static_cast<double>(q.n_rows));
    shape.add_cost(kernels::row_classes(q), shape.lanes * kRun, 1.0, terms);
    if (!q.problem.weighted) terms.launches = p.kernels;
    return terms;
}

}  // namespace
}  // namespace gcn_norm_binned

void register_gcn_norm_binned(Registry& registry) {
    Variant v;
    v.id = "gcn_norm.binned";
    v.summary = "rows binned by degree: degrees, then weights, each in one launch; unweighted in one kernel or two";
    v.op = Op::gcn_norm;
    v.backend = Backend::cuda;
    v.version = 2;  // reversed problems may walk over columns
    v.default_rank = 5;
    v.can = {.storage = kEveryStorage};
    kernels::set_typed_params<gcn_norm_binned::NormParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &gcn_norm_binned::formats;
    v.prepare = &gcn_norm_binned::prepare;
    v.workspace_bytes = &gcn_norm_binned::workspace;
    v.launch = &gcn_norm_binned::run;
    v.cost_terms = &gcn_norm_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
