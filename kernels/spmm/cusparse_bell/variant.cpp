#include "core/registry/graph.hpp"
#include "kernels/common/find_library.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/cusparse_bell/launch.hpp"

namespace gnntune {
namespace spmm_cusparse_bell {
namespace {

// With every block present the values are as large as the dense matrix: beyond this the format does not fit.
constexpr std::int64_t kMaxDenseBytes = std::int64_t{256} << 20;

struct BellParams {
    int block_size = 16;

    static const std::vector<ParamField<BellParams>>& fields() {
        static const std::vector<ParamField<BellParams>> kFields{{"block_size", &BellParams::block_size, {16, 32}}};
        return kFields;
    }
    static Verdict legal(const Query&, const BellParams&) { return Verdict::yes(); }
    static BellParams defaults(const Query&) { return {}; }
};

Verdict applicable(const Query& q) {
    const Verdict matrix = kernels::require_cusparse_matrix(q);
    if (!matrix) return matrix;
    if (const Verdict found = kernels::find_library(cusparse_library()); !found) return found;
    // Sizes are padded to whole blocks, of 32 at most.
    const auto padded = [](std::int64_t n) { return kernels::ceil_div(n, 32) * 32; };
    if (padded(q.n_rows) > kMaxDenseBytes / 4 / padded(q.n_cols)) {
        return Verdict::no("blocked ELL may need as much as the dense matrix, which is over 256 MiB here");
    }
    return Verdict::yes();
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& problem = c.query.problem;
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, problem.direction, c.stream);
    return make_plan(*csr, from_params<BellParams>(c.params).block_size, problem.k, problem.weighted, c.stream);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

// What it reads is only known once the blocks are built; the dense matrix bounds it.
CostTerms cost_terms(const Query& q, const Params&) {
    const double dense = 4.0 * static_cast<double>(q.n_rows) * static_cast<double>(q.n_cols);
    CostTerms terms = kernels::gather_cost(q, std::min(dense, 256.0 * 4.0 * static_cast<double>(q.m)));
    terms.launches = 4;
    return terms;
}

}  // namespace
}  // namespace spmm_cusparse_bell

void register_spmm_cusparse_bell(Registry& registry) {
    Variant v;
    v.id = "spmm.cusparse_bell";
    v.summary = "cusparseSpMM over blocked ELL: dense blocks on tensor cores (TF32), for small or dense graphs";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.precision = Precision::tf32;  // what the results show: see README.md
    v.default_rank = 95;
    v.baseline = true;
    v.spreads_infinities = true;
    v.operand_alignment = 16;
    v.applicable = &spmm_cusparse_bell::applicable;
    kernels::set_typed_params<spmm_cusparse_bell::BellParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &spmm_cusparse_bell::prepare;
    v.workspace_bytes = &spmm_cusparse_bell::workspace;
    v.launch = &spmm_cusparse_bell::run;
    v.cost_terms = &spmm_cusparse_bell::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
