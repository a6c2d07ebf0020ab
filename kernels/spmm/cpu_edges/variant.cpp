// spmm.cpu_edges: y[i, :] = sum over edges e of row i of w_e x[col_e, :], equal edges per part whatever the degrees.
//
// Work     the edges are cut into parts of equal length; a part's inner rows are written by it alone; its first and
//          last row, which neighbours may share, go to the part's own two rows of the workspace.
// Order    shared rows are then added in part order by one thread per row run: repeats bit for bit, since the parts
//          depend on `parts` and not on the number of threads.
// Space    workspace [parts, 2, k] floats.
#include <algorithm>

#include "core/graph/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace spmm_cpu_edges {
namespace {

struct CpuEdgesParams {
    int parts = 64;

    static const std::vector<ParamField<CpuEdgesParams>>& fields() {
        static const std::vector<ParamField<CpuEdgesParams>> kFields{{"parts", &CpuEdgesParams::parts, {8, 64, 512}}};
        return kFields;
    }
    static Verdict legal(const Query&, const CpuEdgesParams&) { return Verdict::yes(); }
    static CpuEdgesParams defaults(const Query&) { return {}; }
};

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int64_t parts;
    std::int32_t k;
    bool weighted;
    // Per part: the row of its first edge.
    std::vector<std::int32_t> first_row;
};

std::int64_t part_begin(std::int64_t m, std::int64_t parts, std::int64_t part) {
    return m * part / parts;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    auto state = std::make_shared<State>();
    state->csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    state->parts =
        std::max<std::int64_t>(1, std::min<std::int64_t>(from_params<CpuEdgesParams>(c.params).parts, state->csr->m));
    state->k = c.query.problem.k;
    state->weighted = c.query.problem.weighted;
    const CsrFormat& g = *state->csr;
    for (std::int64_t p = 0; p < state->parts; ++p) {
        const auto begin = static_cast<std::int32_t>(part_begin(g.m, state->parts, p));
        const std::int32_t* above = std::upper_bound(g.row_ptr, g.row_ptr + g.n_rows + 1, begin);
        state->first_row.push_back(static_cast<std::int32_t>(above - g.row_ptr) - 1);
    }
    return state;
}

std::size_t workspace(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return static_cast<std::size_t>(s.parts) * 2 * static_cast<std::size_t>(s.k) * sizeof(float);
}

GNNTUNE_TARGET_CLONES
void sum_edges(const CsrFormat& g, const float* weight, const float* x, std::int32_t k, std::int32_t begin,
               std::int32_t end, float* out) {
    std::fill(out, out + k, 0.0F);
    for (std::int32_t e = begin; e < end; ++e) {
        const float w = weight ? weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
        kernels::axpy(out, w, x + static_cast<std::int64_t>(g.col_idx[e]) * k, k);
    }
}

// Whether row i is cut by a part boundary that lies strictly inside it.
bool is_split(const CsrFormat& g, std::int64_t begin, std::int64_t end, std::int32_t i) {
    return g.row_ptr[i] < begin || g.row_ptr[i + 1] > end;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const float* weight = s.weighted ? o.edge_weight : nullptr;
    auto* partial = static_cast<float*>(workspace);
    const std::int64_t k = s.k;
    if (g.m == 0) {
        std::fill(o.y, o.y + static_cast<std::int64_t>(g.n_rows) * k, 0.0F);
        return;
    }
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t p = 0; p < s.parts; ++p) {
        const std::int64_t begin = part_begin(g.m, s.parts, p);
        const std::int64_t end = part_begin(g.m, s.parts, p + 1);
        // Empty rows before the first edge are the first part's, those after an edge belong to the part of that edge.
        const std::int32_t first = p == 0 ? 0 : s.first_row[static_cast<std::size_t>(p)];
        const std::int32_t last = p + 1 == s.parts ? g.n_rows : s.first_row[static_cast<std::size_t>(p) + 1] + 1;
        for (std::int32_t i = first; i < last; ++i) {
            const auto from = static_cast<std::int32_t>(std::max<std::int64_t>(begin, g.row_ptr[i]));
            const auto to = static_cast<std::int32_t>(std::min<std::int64_t>(end, g.row_ptr[i + 1]));
            float* out = o.y + i * k;
            if (is_split(g, begin, end, i)) {
                // A part shares at most the row it starts in (slot 0) and the row it ends in (slot 1).
                if (to <= from) continue;
                out = partial + (2 * p + (g.row_ptr[i] < begin ? 0 : 1)) * k;
            }
            sum_edges(g, weight, o.x, s.k, from, std::max(from, to), out);
        }
    }
    // Add up the split rows: each is owned by the part in which it starts.
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t p = 0; p < s.parts; ++p) {
        const std::int64_t end = part_begin(g.m, s.parts, p + 1);
        if (end >= g.m) continue;
        const std::int32_t i = s.first_row[static_cast<std::size_t>(p) + 1];
        if (g.row_ptr[i] >= end || g.row_ptr[i] < part_begin(g.m, s.parts, p)) continue;
        float* out = o.y + i * k;
        std::copy(partial + (2 * p + 1) * k, partial + (2 * p + 2) * k, out);
        for (std::int64_t q = p + 1; q < s.parts && part_begin(g.m, s.parts, q) < g.row_ptr[i + 1]; ++q) {
            kernels::axpy(out, 1.0F, partial + 2 * q * k, s.k);
        }
    }
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q));
    terms.launches = 2;
    return terms;
}

}  // namespace
}  // namespace spmm_cpu_edges

void register_spmm_cpu_edges(Registry& registry) {
    Variant v;
    v.id = "spmm.cpu_edges";
    v.summary = "OpenMP over equal parts of the edges, shared rows added in order";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    v.default_rank = 20;
    v.applicable = &kernels::require_plain_fp32_sum;
    kernels::set_typed_params<spmm_cpu_edges::CpuEdgesParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &spmm_cpu_edges::prepare;
    v.workspace_bytes = &spmm_cpu_edges::workspace;
    v.launch = &spmm_cpu_edges::run;
    v.cost_terms = &spmm_cpu_edges::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
