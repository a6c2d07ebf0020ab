// csr_to_csc.cusparse: cusparseCsr2cscEx2, the edges' positions carried as 32-bit values.
#include "kernels/common/conversion.hpp"
#include "kernels/csr_to_csc/cusparse/launch.hpp"

namespace gnntune {
namespace csr_to_csc_cusparse {
namespace {

using State = kernels::ConversionState<CsrFormat>;

Verdict applicable(const Query& q) {
    if (q.m == 0 || q.n_rows == 0 || q.n_cols == 0) return Verdict::no("cuSPARSE takes no empty matrix");
    return Verdict::yes();
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    return std::make_shared<State>(State{csr, workspace_bytes(*csr, c.stream)});
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state)->graph, operands, workspace, stream);
}

// Positions written, read and moved with the edges.
CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::conversion_cost(q, 8.0);
    terms.launches = 8;
    return terms;
}

}  // namespace
}  // namespace csr_to_csc_cusparse

void register_csr_to_csc_cusparse(Registry& registry) {
    Variant v = kernels::conversion_variant<CsrFormat>(Op::csr_to_csc, Backend::cuda);
    v.id = "csr_to_csc.cusparse";
    v.summary = "cusparseCsr2cscEx2, positions carried as values";
    v.default_rank = 50;
    v.baseline = true;
    v.operand_alignment = 16;
    v.applicable = &csr_to_csc_cusparse::applicable;
    v.prepare = &csr_to_csc_cusparse::prepare;
    v.launch = &csr_to_csc_cusparse::run;
    v.cost_terms = &csr_to_csc_cusparse::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
