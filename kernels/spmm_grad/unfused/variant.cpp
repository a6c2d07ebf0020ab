#include <algorithm>

#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/composition.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/spmm_grad/common/spmm_grad.hpp"
#include "kernels/spmm_grad/unfused/launch.hpp"

namespace gnntune {
namespace spmm_grad_unfused {
namespace {

/// Places of the parts.
enum PartIndex : std::size_t { kSpmm, kSddmm };

struct Unfused {
    /// spmm, and sddmm where weights have a gradient. A mean's shares are weights of both.
    static std::vector<Part> parts(const Query& q) {
        const bool mean = q.problem.reduce == Reduce::mean;
        Problem spmm = q.problem;
        spmm.op = Op::spmm;
        spmm.direction = opposite(q.problem.direction);
        spmm.reduce = Reduce::sum;
        spmm.weighted = q.problem.weighted || mean;
        std::vector<Part> out{{"spmm", spmm}};
        if (q.problem.weighted) {
            Problem sddmm = q.problem;
            sddmm.op = Op::sddmm;
            sddmm.reduce = Reduce::sum;
            sddmm.weighted = mean;
            sddmm.self_loop = false;
            out.push_back({"sddmm", sddmm});
        }
        return out;
    }
};

struct State {
    kernels::PartPlans parts;
    DeviceBuffer<float> row_share;   ///< for the mean
    DeviceBuffer<float> edge_share;  ///< likewise
    std::int64_t n;                  ///< self loops
    std::int64_t m;
    std::int32_t k;
    std::int32_t heads;
    DType dtype;
    bool weighted;
    bool mean;
};

/// The workspace of a run: the parts' own, then weights with their shares.
struct Workspace {
    void* parts;
    float* edge_weight = nullptr;  ///< null: as the caller's, or the shares themselves
    float* self_weight = nullptr;  ///< null: as the caller's
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        kernels::WorkspaceCutter cut(base);
        parts = cut.take<char>(static_cast<std::int64_t>(s.parts.workspace_bytes));
        if (s.mean && s.weighted) edge_weight = cut.take<float>(s.m * s.heads);
        if (s.mean && s.n > 0) self_weight = cut.take<float>(s.n * s.heads);
        bytes = cut.bytes();
    }
};

Verdict applicable(const Query& q) {
    // A warp of eight in a block for a dot product of a self loop.
    return kernels::require_grid(kernels::ceil_div(std::max(q.m, q.n_rows) * q.problem.heads, 8));
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto state = std::make_shared<State>();
    state->parts = kernels::make_part_plans<Unfused>(c);
    state->n = p.self_loop ? c.query.n_rows : 0;
    state->m = c.query.m;
    state->k = p.k;
    state->heads = p.heads;
    state->dtype = p.dtype;
    state->weighted = p.weighted;
    state->mean = p.reduce == Reduce::mean;
    if (state->mean) {
        const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
        const auto coo = c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream);
        state->row_share = DeviceBuffer<float>(static_cast<std::size_t>(csr->n_rows));
        state->edge_share = DeviceBuffer<float>(static_cast<std::size_t>(coo->m));
        make_shares(*csr, *coo, p.self_loop, state->row_share.data(), state->edge_share.data(),
                    c.graph.in_stream_order(), c.stream);
    }
    return state;
}

std::size_t workspace_bytes(const void* state) {
    return Workspace(*static_cast<const State*>(state), nullptr).bytes;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    const Workspace w(s, workspace);
    Operands spmm;
    spmm.x = o.grad_y;
    spmm.y = o.grad_x;
    spmm.edge_weight = s.mean ? s.edge_share.data() : o.edge_weight;
    spmm.self_weight = o.self_weight;
    if (w.edge_weight) {
        launch_products(o.edge_weight, s.edge_share.data(), s.m, s.heads, w.edge_weight, stream);
        spmm.edge_weight = w.edge_weight;
    }
    if (w.self_weight) {
        launch_products(o.self_weight, s.row_share.data(), s.n, s.heads, w.self_weight, stream);
        spmm.self_weight = w.self_weight;
    }
    s.parts[kSpmm].run(spmm, w.parts, stream);
    if (s.weighted) {
        Operands sddmm;
        sddmm.x_row = o.grad_y;
        sddmm.x = o.x;
        sddmm.edge_weight = s.mean ? s.edge_share.data() : nullptr;
        sddmm.y = o.grad_edge_weight;
        s.parts[kSddmm].run(sddmm, w.parts, stream);
    }
    if (s.n > 0) launch_self_dots(s.n, s.heads, s.k, s.dtype, s.mean ? s.row_share.data() : nullptr, o, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const bool mean = q.problem.reduce == Reduce::mean;
    const auto element = static_cast<double>(size_of(q.problem.dtype));
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q));
    const auto add = [&](double bytes) {
        terms.dram_bytes += bytes;
        terms.l2_bytes += bytes;
    };
    if (q.problem.weighted) {
        // The second part reads the graph and gathers for itself, self loops not among its edges.
        Query edges = q;
        edges.problem.self_loop = false;
        const CostTerms second = kernels::gather_cost(edges, kernels::csr_bytes(q));
        terms.dram_bytes += second.dram_bytes;
        terms.l2_bytes += second.l2_bytes;
        terms.launches += 1;
        if (mean) {
            add((8.0 + 8.0 * q.problem.heads) * static_cast<double>(q.m));
            terms.launches += 1;
        }
    } else if (mean) {
        add(4.0 * static_cast<double>(q.m));
    }
    if (q.problem.self_loop) {
        add(2.0 * element * static_cast<double>(q.n_rows) * static_cast<double>(kernels::row_width(q.problem)));
        terms.launches += mean ? 2 : 1;
    }
    return terms;
}

}  // namespace
}  // namespace spmm_grad_unfused

void register_spmm_grad_unfused(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.unfused";
    v.summary = "spmm in the opposite direction, then sddmm: any two configs of those ops";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.version = 2;  // self loops are added by the SpMM
    v.default_rank = 10;
    v.can = {.storage = kEveryStorage,
             .reduce = {Reduce::sum, Reduce::mean},
             .in_f32_only = {Reduce::mean},
             .self_loops = Takes::yes,
             .heads = true};  // the shares of a mean would be rounded
    v.applicable = &spmm_grad_unfused::applicable;
    kernels::set_parts<spmm_grad_unfused::Unfused>(v);
    // As far as it is up to this variant: a plan asks its parts too.
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_no_format;
    v.prepare = &spmm_grad_unfused::prepare;
    v.workspace_bytes = &spmm_grad_unfused::workspace_bytes;
    v.launch = &spmm_grad_unfused::run;
    v.cost_terms = &spmm_grad_unfused::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
