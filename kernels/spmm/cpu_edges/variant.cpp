// spmm.cpu_edges: y[i, :] = sum over edges e of row i of w_e x[col_e, :], equal edges per part whatever the degrees.
//
// Work     the edges are cut into parts of equal length; a part's inner rows are written by it alone; its first and
//          last row, which neighbours may share, go to the part's own two rows of the workspace.
// Order    shared rows are then added in part order by one thread per row run: repeats bit for bit, since the parts
//          depend on `parts` and not on the number of threads. No chain of additions is long: the edges of a part are
//          summed in pieces of kChain, and the sums of many parts in pieces of kPartChain.
// Space    workspace [parts, 2, k] floats; [parts, 3, k] where a part may have more than kChain edges of one row.
#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace spmm_cpu_edges {
namespace {

constexpr std::int64_t kPartChain = 32;  ///< sums of parts that are added up one after the other

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
    std::int64_t slots = 2;  ///< rows of the workspace that a part has
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
    if (kernels::ceil_div(g.m, state->parts) > kernels::kChain) state->slots = 3;
    state->first_row.reserve(static_cast<std::size_t>(state->parts));
    for (std::int64_t p = 0; p < state->parts; ++p) {
        const auto begin = static_cast<std::int32_t>(part_begin(g.m, state->parts, p));
        const std::int32_t* above = std::upper_bound(g.row_ptr, g.row_ptr + g.n_rows + 1, begin);
        state->first_row.push_back(static_cast<std::int32_t>(above - g.row_ptr) - 1);
    }
    return state;
}

std::size_t workspace(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return static_cast<std::size_t>(s.parts * s.slots) * static_cast<std::size_t>(s.k) * sizeof(float);
}

__attribute__((always_inline)) inline void sum_chain(const CsrFormat& g, const float* weight, const float* x,
                                                     std::int32_t k, std::int32_t begin, std::int32_t end, float* out) {
    std::fill(out, out + k, 0.0F);
    for (std::int32_t e = begin; e < end; ++e) {
        const float w = weight ? weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
        kernels::axpy(out, w, x + static_cast<std::int64_t>(g.col_idx[e]) * k, k);
    }
}

// `piece` has room for k floats if there are more than kChain edges.
GNNTUNE_TARGET_CLONES
void sum_edges(const CsrFormat& g, const float* weight, const float* x, std::int32_t k, std::int32_t begin,
               std::int32_t end, float* piece, float* out) {
    std::int32_t e = begin + std::min(kernels::kChain, end - begin);
    sum_chain(g, weight, x, k, begin, e, out);
    while (e < end) {
        const std::int32_t stop = e + std::min(kernels::kChain, end - e);
        sum_chain(g, weight, x, k, e, stop, piece);
        kernels::axpy(out, 1.0F, piece, k);
        e = stop;
    }
}

// out += the sums [k] of `count` parts that lie `stride` floats apart. Adds up pieces of them in place.
GNNTUNE_TARGET_CLONES
void add_parts(float* sums, std::int64_t stride, std::int64_t count, std::int32_t k, float* out) {
    for (std::int64_t first = 0; first < count; first += kPartChain) {
        float* piece = sums + first * stride;
        const std::int64_t last = std::min(count, first + kPartChain);
        for (std::int64_t q = first + 1; q < last; ++q) kernels::axpy(piece, 1.0F, sums + q * stride, k);
        kernels::axpy(out, 1.0F, piece, k);
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
    const std::int64_t stride = s.slots * k;  // from part to part
    if (g.m == 0) {
        std::fill(o.y, o.y + static_cast<std::int64_t>(g.n_rows) * k, 0.0F);
        return;
    }
    const auto sum_part = [&](std::int32_t p, std::int32_t) {
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
                out = partial + p * stride + (g.row_ptr[i] < begin ? 0 : k);
            }
            float* piece = s.slots > 2 ? partial + p * stride + 2 * k : nullptr;
            sum_edges(g, weight, o.x, s.k, from, std::max(from, to), piece, out);
        }
    };
    // Adds up the split rows: each is owned by the part in which it starts.
    const auto sum_split_row = [&](std::int32_t p, std::int32_t) {
        const std::int64_t end = part_begin(g.m, s.parts, p + 1);
        if (end >= g.m) return;
        const std::int32_t i = s.first_row[static_cast<std::size_t>(p) + 1];
        if (g.row_ptr[i] >= end || g.row_ptr[i] < part_begin(g.m, s.parts, p)) return;
        float* out = o.y + i * k;
        std::copy(partial + p * stride + k, partial + p * stride + 2 * k, out);
        std::int64_t behind = p + 1;  // the first part that has nothing of the row
        while (behind < s.parts && part_begin(g.m, s.parts, behind) < g.row_ptr[i + 1]) ++behind;
        add_parts(partial + (p + 1) * stride, stride, behind - p - 1, s.k, out);
    };
    const auto parts = static_cast<std::int32_t>(s.parts);
    kernels::on_team((g.m + g.n_rows) * k, [&](const kernels::Team& team) {
        team.for_row_blocks(parts, 1, sum_part);
        team.barrier();
        team.for_row_blocks(parts, 1, sum_split_row);
    });
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
    v.version = 2;  // rows of many parts, and parts of many edges, are sums of sums
    v.summary = "OpenMP over equal parts of the edges, shared rows added in order";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    v.default_rank = 20;
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
