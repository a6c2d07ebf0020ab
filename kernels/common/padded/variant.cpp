#include "kernels/common/padded/variant.hpp"

#include "core/ops/arrays.hpp"
#include "kernels/common/column_pass.hpp"
#include "kernels/common/composition.hpp"
#include "kernels/common/gather_pass.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/padded/launch.hpp"
#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::kernels {

Query filled_up(const Query& q) {
    const auto whole = static_cast<std::int64_t>(16 / size_of(q.problem.dtype));
    Query out = q;
    out.problem.k = static_cast<std::int32_t>(ceil_div(q.problem.k, whole) * whole);
    return out;
}

namespace padded {
namespace {

struct Padded {
    static std::vector<Part> parts(const Query& q) {
        const Problem inner = filled_up(q).problem;
        return {{std::string(to_text(inner.op)), inner}};
    }
};

/// Whether the problem reads x: a gradient of spmm does for the weights' alone.
bool reads_x(const Problem& p) {
    return p.op != Op::spmm_grad || p.weighted || p.self_loop;
}

/// The arrays of the problem whose rows have k features for each head, of which it has a use.
std::vector<ArraySpec> feature_arrays(const Query& q) {
    const auto all = arrays_of(q);
    const auto wider = arrays_of(filled_up(q));
    std::vector<ArraySpec> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool used = all[i].input != &Operands::x || reads_x(q.problem);
        if (used && all[i].width != wider[i].width) out.push_back(all[i]);
    }
    return out;
}

const void* address_in(const Operands& o, const ArraySpec& a) {
    if (a.input) return o.*a.input;
    if (a.index_input) return o.*a.index_input;
    if (a.output) return o.*a.output;
    return o.*a.index_output;
}

struct State {
    PartPlans parts;
    std::vector<ArraySpec> features;
    std::int32_t k;
    std::int32_t padded_k;
    std::int32_t heads;
    bool reads_x;
    bool scales_logits;  ///< by a factor that depends on k where the caller gives none
};

/// Copies of a run, by the size of their elements.
struct Copies {
    RowCopies of_two_bytes;
    RowCopies of_four_bytes;

    Copies(std::int32_t from_width, std::int32_t to_width) {
        for (RowCopies* c : {&of_two_bytes, &of_four_bytes}) c->from_width = from_width, c->to_width = to_width;
    }
    void add(const ArraySpec& a, std::int32_t heads, const void* from, void* to) {
        (a.element_bytes() == 2 ? of_two_bytes : of_four_bytes).add(from, to, a.rows * heads);
    }
    void enqueue(StreamHandle stream) const {
        enqueue_row_copies(of_two_bytes, 2, stream);
        enqueue_row_copies(of_four_bytes, 4, stream);
    }
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{make_part_plans<Padded>(c), feature_arrays(c.query), p.k,
                                         filled_up(c.query).problem.k, p.heads, reads_x(p),
                                         forward_of(p.op) == Op::attention});
}

/// Room for the part's own workspace, then for the copies in the order of `features`.
std::byte* take_copy(WorkspaceCutter& cut, const State& s, const ArraySpec& a) {
    return cut.take<std::byte>(a.rows * s.heads * s.padded_k * static_cast<std::int64_t>(a.element_bytes()));
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    WorkspaceCutter cut(nullptr);
    cut.take<std::byte>(static_cast<std::int64_t>(s.parts.workspace_bytes));
    for (const ArraySpec& a : s.features) take_copy(cut, s, a);
    return cut.bytes();
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    WorkspaceCutter cut(workspace);
    void* of_part = cut.take<std::byte>(static_cast<std::int64_t>(s.parts.workspace_bytes));
    Operands inner = o;
    if (!s.reads_x) inner.x = nullptr;  // has rows of k
    if (s.scales_logits) inner.scale = logit_scale(o, s.k);
    Copies before(s.k, s.padded_k);
    Copies after(s.padded_k, s.k);
    for (const ArraySpec& a : s.features) {
        std::byte* copy = take_copy(cut, s, a);
        const void* given = address_in(o, a);
        if (!given) continue;  // not wanted, or without elements
        a.bind(inner, copy);
        if (a.is_input()) {
            before.add(a, s.heads, given, copy);
        } else {
            after.add(a, s.heads, copy, const_cast<void*>(given));
        }
    }
    before.enqueue(stream);
    s.parts[0].run(inner, of_part, stream);
    after.enqueue(stream);
}

/// Whether the op's kernels by degree take such rows. Those of gradients have a head in the registers of a warp, which narrow
/// loads fill sooner.
bool by_degree_take(const Query& q) {
    switch (q.problem.op) {
        case Op::spmm_grad:
        case Op::gat_grad:
            return ColumnPassParams::require_head(q.problem).ok;
        case Op::agnn_grad:
        case Op::attention_grad:
            return require_gather_pass(q).ok;
        default:
            return true;
    }
}

/// What the copies read and write, bytes.
double copied_bytes(const Query& q, const Query& inner) {
    double bytes = 0;
    for (const ArraySpec& a : feature_arrays(q)) {
        bytes += static_cast<double>(a.element_bytes()) * static_cast<double>(a.rows) * q.problem.heads *
                 (q.problem.k + inner.problem.k);
    }
    return bytes;
}

// What two launches of copies cost, and each load of 16 bytes that they read or write, in loads that edges are spared, for
// each place of the device. docs/history.md, "The default of `spmm`".
struct Price {
    double launches;
    double copy;
};
// A sum has kernels of its own that cope with narrow loads, and so has its gradient where it is two runs.
constexpr Price kSumOf32Bits{16, 1.5};
constexpr Price kSumOf16Bits{14, 0.75};
constexpr Price kMaximumOf16Bits{16, 0.1};  // winners of 32 bits take a launch of their own
constexpr Price kOthers{5, 0.25};
constexpr Price kBeyondByDegree{0.25, 0.25};  // up to nine times the time in any other kernel

Price price_of(const Query& q, const Query& inner) {
    const Op op = q.problem.op;
    const bool narrow = size_of(q.problem.dtype) == 2;
    const bool maximum = q.problem.reduce == Reduce::max;
    const bool taken = by_degree_take(q);
    if (op == Op::spmm && maximum) return narrow ? kMaximumOf16Bits : kOthers;
    if (op == Op::spmm || (op == Op::spmm_grad && !taken)) return narrow ? kSumOf16Bits : kSumOf32Bits;
    return !taken && by_degree_take(inner) ? kBeyondByDegree : kOthers;
}

bool pays(const Query& q) {
    const Query inner = filled_up(q);
    const Op op = q.problem.op;
    const auto loads = [](const Problem& p) { return static_cast<double>(p.k) / widest_vector(p) * p.heads; };
    const double gathers = forward_of(op) == op ? 1 : 2;  // a gradient's of rows and of columns
    const double spared = gathers * static_cast<double>(q.m) * (loads(q.problem) - loads(inner.problem));
    const Price price = price_of(q, inner);
    return spared >= price.launches * places_of(q) + price.copy * copied_bytes(q, inner) / 16;
}

/// What the op moves on wider rows, and the copies.
CostTerms cost_terms(const Query& q, const Params&) {
    const Query inner = filled_up(q);
    const std::int64_t gathered =
        q.features ? gathered_rows(q.problem, *q.features) : std::min(std::max(q.n_rows, q.n_cols), q.m);
    const Work work = work_of(inner, gathered);
    const double copied = copied_bytes(q, inner);
    CostTerms terms;
    terms.dram_bytes = work.a_bytes + work.gather_min_bytes + work.out_bytes + copied;
    terms.l2_bytes = work.a_bytes + work.gather_max_bytes + work.out_bytes + copied;
    terms.flops = work.flops;
    terms.launches = 3;
    return terms;
}

}  // namespace
}  // namespace padded

Verdict require_padding(const Query& q) {
    const Query inner = filled_up(q);
    if (whole_vectors(q.problem)) {
        return Verdict::no("rows of k=" + std::to_string(q.problem.k) + " are whole vectors of 16 bytes");
    }
    if (row_width(inner.problem) > kMaxFeatures) {
        return Verdict::no("filled up, its rows are wider than the " + std::to_string(kMaxFeatures) +
                           " features they may have");
    }
    const std::int64_t elements = std::max(q.n_rows, q.n_cols) * inner.problem.k * q.problem.heads;
    return require_grid(ceil_div(4 * elements, kRowCopyThreads * kRowCopyBytes));
}

void set_padded(Variant& v) {
    v.summary = "rows of features copied to rows of whole 16-byte vectors and back, between them any config of the op";
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.can = kAnyKind;  // what its part can do, it can
    v.preferred = &padded::pays;
    v.applicable = &require_padding;
    set_parts<padded::Padded>(v);
    // As far as it is up to this variant: a plan asks its part too.
    v.deterministic = &always_deterministic;
    v.formats = &needs_no_format;
    v.prepare = &padded::prepare;
    v.workspace_bytes = &padded::workspace_bytes;
    v.launch = &padded::run;
    v.cost_terms = &padded::cost_terms;
}

}  // namespace gnntune::kernels
