// coo_to_csr.buckets: the caller's list grouped by row by a stable counting sort in two digits
// (kernels/formats/csr/buckets.cuh).
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/buckets.hpp"

namespace gnntune {
namespace coo_to_csr_buckets {
namespace {

struct State : kernels::ConversionState<CooFormat> {
    formats::BucketParams params;
};

Verdict applicable(const Query& q) {
    return formats::require_buckets(q.device, q.m, q.n_rows, q.n_cols);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    State s;
    s.graph = c.graph.format_as<CooFormat>(kFormatCoo, c.query.problem.direction, c.stream);
    s.params = from_params<formats::BucketParams>(c.params);
    s.workspace_bytes = formats::bucket_by_row_bytes(*s.graph, s.params);
    return std::make_shared<State>(std::move(s));
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->workspace_bytes;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    formats::bucket_by_row(*s.graph, {o.out_ptr, o.out_idx, o.out_edge_id}, workspace, s.params, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    return formats::bucket_cost(q.m, q.n_rows, q.n_cols, from_params<formats::BucketParams>(params), 4);
}

}  // namespace
}  // namespace coo_to_csr_buckets

void register_coo_to_csr_buckets(Registry& registry) {
    Variant v = kernels::conversion_variant<CooFormat>(Op::coo_to_csr, Backend::cuda);
    v.id = "coo_to_csr.buckets";
    v.summary = "stable counting sort by row in two digits: a split into buckets, then each in shared memory";
    v.default_rank = 9;
    v.can = kAnyKind;
    v.applicable = &coo_to_csr_buckets::applicable;
    kernels::set_typed_params<formats::BucketParams>(v);
    v.prepare = &coo_to_csr_buckets::prepare;
    v.workspace_bytes = &coo_to_csr_buckets::workspace_bytes;
    v.launch = &coo_to_csr_buckets::run;
    v.cost_terms = &coo_to_csr_buckets::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
