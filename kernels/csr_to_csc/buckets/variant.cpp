// csr_to_csc.buckets: the edges of a CSR graph grouped by column by a stable counting sort in two digits
// (kernels/formats/csr/buckets.cuh).
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/buckets.hpp"

namespace gnntune {
namespace csr_to_csc_buckets {
namespace {

struct State : kernels::ConversionState<CsrFormat> {
    formats::BucketParams params;
};

Verdict applicable(const Query& q) {
    return formats::require_buckets(q.device, q.m, q.n_cols, q.n_rows);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    State s;
    s.graph = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    s.params = from_params<formats::BucketParams>(c.params);
    s.workspace_bytes = formats::bucket_by_column_bytes(*s.graph, s.params);
    return std::make_shared<State>(std::move(s));
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->workspace_bytes;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    formats::bucket_by_column(*s.graph, {o.out_ptr, o.out_idx, o.out_edge_id}, workspace, s.params, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    CostTerms terms = formats::bucket_cost(q.m, q.n_cols, q.n_rows, from_params<formats::BucketParams>(params), 0);
    const double offsets = 4.0 * (static_cast<double>(q.n_rows) + 1);
    terms.dram_bytes += offsets;
    terms.l2_bytes += offsets;
    return terms;
}

}  // namespace
}  // namespace csr_to_csc_buckets

void register_csr_to_csc_buckets(Registry& registry) {
    Variant v = kernels::conversion_variant<CsrFormat>(Op::csr_to_csc, Backend::cuda);
    v.id = "csr_to_csc.buckets";
    v.summary = "stable counting sort by column in two digits: a split into buckets, then each in shared memory";
    v.default_rank = 9;
    v.can = kAnyKind;
    v.applicable = &csr_to_csc_buckets::applicable;
    kernels::set_typed_params<formats::BucketParams>(v);
    v.prepare = &csr_to_csc_buckets::prepare;
    v.workspace_bytes = &csr_to_csc_buckets::workspace_bytes;
    v.launch = &csr_to_csc_buckets::run;
    v.cost_terms = &csr_to_csc_buckets::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
