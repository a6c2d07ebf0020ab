// Each wrong variant is the same small right kernel with one mistake of a kind that real kernels have made.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/philox.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/common/edge_epilogue.hpp"
#include "tests/conformance/faulty/faulty.hpp"

namespace gnntune::conformance {
namespace {

enum class Fault {
    none,
    last_edge_dropped,
    weight_ignored,
    duplicate_overwritten,
    tail_column_unwritten,
    row_off_by_one,
    graph_transposed,
    wrong_feature_tile,
    truncated_operands,
    output_not_zeroed,
    write_past_the_end,
    workspace_overrun,
    not_repeatable,
    applicable_too_wide,
    edge_order_ignored,
    input_overwritten,
    assumes_alignment,
    multiplies_by_zero,
    weighs_by_zero,
    divides_by_zero,
    default_outside_space,
    refuses_without_reason,
    refuses_everything,
    samples_wrong_edges,
    weight_gradient_unwritten,
    head_ignored,
    dropout_not_scaled,
    seed_offset_ignored,
    last_of_equals,
    nan_loses,
    needs_every_output,
    numbers_handed_on,
    activation_ignored,
    scaled_after_activation,
    activated_within_a_sum,
};

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> other_direction;
    Problem problem;
};

template <Fault F>
void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = F == Fault::graph_transposed && s.csr->n_rows == s.csr->n_cols ? *s.other_direction : *s.csr;
    const std::int32_t k = s.problem.k * s.problem.heads;
    const std::int64_t heads = weight_heads(s.problem);
    if (F == Fault::applicable_too_wide && k % 2 != 0) throw unsupported("k must be even");
    const float* x = o.x;
    if (F == Fault::assumes_alignment) {
        x = reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(x) & ~std::uintptr_t{15});
    }
    static std::atomic<int> calls{0};
    const int call = calls++;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        const std::int32_t end =
            F == Fault::last_edge_dropped && i + 1 == g.n_rows && g.m > 0 ? g.row_ptr[i + 1] - 1 : g.row_ptr[i + 1];
        const std::int32_t target = F == Fault::row_off_by_one ? (i + 1) % g.n_rows : i;
        const std::int32_t width = F == Fault::tail_column_unwritten ? k / 4 * 4 : k;
        for (std::int32_t f = 0; f < width; ++f) {
            float sum = F == Fault::output_not_zeroed ? o.y[static_cast<std::int64_t>(target) * k + f] : 0.0F;
            // Summation order that changes from call to call: right within rounding, but not the same bits.
            const std::int32_t count = end - g.row_ptr[i];
            for (std::int32_t step = 0; step < count; ++step) {
                const bool backwards = F == Fault::not_repeatable && call % 2 == 1;
                const std::int32_t e = backwards ? end - 1 - step : g.row_ptr[i] + step;
                const std::int32_t id = g.edge_id && F != Fault::edge_order_ignored ? g.edge_id[e] : e;
                const std::int64_t at = id * heads + (F == Fault::head_ignored ? 0 : f / (k / heads));
                float w = s.problem.weighted && F != Fault::weight_ignored ? o.edge_weight[at] : 1.0F;
                const std::int32_t feature = F == Fault::wrong_feature_tile ? f % 32 : f;
                float value = x[static_cast<std::int64_t>(g.col_idx[e]) * k + feature];
                if (F == Fault::truncated_operands) {
                    // TF32 without rounding: the low 13 bits are cut off.
                    std::uint32_t bits = 0;
                    std::memcpy(&bits, &value, 4);
                    bits &= 0xffffe000U;
                    std::memcpy(&value, &bits, 4);
                }
                const bool repeated = e > g.row_ptr[i] && g.col_idx[e] == g.col_idx[e - 1];
                if (F == Fault::duplicate_overwritten && repeated) continue;
                sum += w * value;
            }
            if (F == Fault::multiplies_by_zero && g.n_cols > 0) sum += 0.0F * x[f];
            if (F == Fault::divides_by_zero) {
                const volatile float share = 1.0F / static_cast<float>(count);  // of a row without edges too
                (void)share;
            }
            // What a walk over whole runs of edges does with the first edge behind its row.
            const bool neighbour = s.problem.weighted && g.row_ptr[i + 1] < g.m;
            if (F == Fault::weighs_by_zero && neighbour) {
                sum += o.edge_weight[g.edge_id ? g.edge_id[g.row_ptr[i + 1]] : g.row_ptr[i + 1]] * 0.0F;
            }
            o.y[static_cast<std::int64_t>(target) * k + f] = sum;
        }
    }
    if (F == Fault::write_past_the_end) o.y[static_cast<std::int64_t>(g.n_rows) * k] = 0.0F;
    if (F == Fault::workspace_overrun) std::memset(workspace, 0, 68);
    if (F == Fault::input_overwritten && g.n_cols > 0) const_cast<float*>(o.x)[0] = 0.0F;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Direction direction = c.query.problem.direction;
    const Direction other = direction == Direction::forward ? Direction::reversed : Direction::forward;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, direction, c.stream),
                                         c.graph.format_as<CsrFormat>(kFormatCsr, other, c.stream), c.query.problem});
}

std::size_t some_workspace(const void*) {
    return 64;
}
CostTerms no_terms(const Query&, const Params&) {
    return {};
}
Verdict refuse(const Query&) {
    return Verdict::no("");
}
Verdict refuse_in_words(const Query&) {
    return Verdict::no("is not made for such graphs");
}
std::vector<Params> foreign_space(const Query&) {
    return {Params{{"a", "1"}}};
}

template <Fault F>
FaultyVariant make(const char* id, const char* caught_by) {
    Variant v;
    v.id = id;
    v.summary = "wrong on purpose";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    if (F == Fault::refuses_without_reason) v.applicable = &refuse;
    kernels::set_no_params(v);
    if (F == Fault::refuses_everything) v.applicable = &refuse_in_words;
    if (F == Fault::default_outside_space) v.space = &foreign_space;
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &prepare;
    v.workspace_bytes = F == Fault::workspace_overrun ? &some_workspace : &kernels::no_workspace;
    v.launch = &run<F>;
    v.cost_terms = &no_terms;
    return {v, caught_by};
}

// Sampling: the record promises the first two edges of each row, the faulty one takes the last two.
SampleRule first_two(const Params&) {
    return {SampleKind::bucket, 2};
}

template <Fault F>
void run_sampled(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const std::int64_t k = s.problem.k;
    for (std::int32_t i = 0; i < s.csr->n_rows; ++i) {
        const std::int32_t begin = s.csr->row_ptr[i];
        const std::int32_t degree = s.csr->row_ptr[i + 1] - begin;
        const std::int32_t count = sampled_count(first_two({}), degree);
        for (std::int64_t f = 0; f < k; ++f) {
            float sum = 0;
            for (std::int32_t j = 0; j < count; ++j) {
                const std::int32_t e = begin + (F == Fault::samples_wrong_edges ? degree - 1 - j : j);
                const float w = s.problem.weighted ? o.edge_weight[s.csr->edge_id ? s.csr->edge_id[e] : e] : 1.0F;
                sum += w * o.x[s.csr->col_idx[e] * k + f];
            }
            o.y[i * k + f] = sum;
        }
    }
}

template <Fault F>
FaultyVariant make_sampled(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<Fault::none>(id, caught_by);
    faulty.variant.approximate = true;
    faulty.variant.sampling = &first_two;
    faulty.variant.launch = &run_sampled<F>;
    return faulty;
}

// A conversion that names edges by their places in the CSR it starts from, not by the caller's.
template <Fault F>
void run_conversion(const void* state, const Operands& o, void*, StreamHandle) {
    const CsrFormat& g = *static_cast<const State*>(state)->csr;
    std::copy(g.row_ptr, g.row_ptr + g.n_rows + 1, o.out_ptr);
    std::copy(g.col_idx, g.col_idx + g.m, o.out_idx);
    for (std::int32_t e = 0; e < g.m; ++e) {
        o.out_edge_id[e] = g.edge_id && F != Fault::edge_order_ignored ? g.edge_id[e] : e;
    }
}

template <Fault F>
FaultyVariant make_conversion(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<Fault::none>(id, caught_by);
    faulty.variant.op = Op::coo_to_csr;
    faulty.variant.launch = &run_conversion<F>;
    return faulty;
}

// Weights for each head. Of one head nothing is wrong.
Verdict sums_of_heads(const Query& q) {
    return weight_heads(q.problem) == 1 ? Verdict::no("takes several heads only") : Verdict::yes();
}

template <Fault F>
FaultyVariant make_heads(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<F>(id, caught_by);
    faulty.variant.can.heads = true;
    faulty.variant.applicable = &sums_of_heads;
    return faulty;
}

// Gradients of spmm, both from one walk over the rows.
template <Fault F>
void run_gradient(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const std::int64_t k = s.problem.k;
    std::fill(o.grad_x, o.grad_x + g.n_cols * k, 0.0F);
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            const float w = s.problem.weighted ? o.edge_weight[id] : 1.0F;
            const std::int64_t source = g.col_idx[e] * k;
            float product = 0;
            for (std::int64_t f = 0; f < k; ++f) {
                o.grad_x[source + f] += w * o.grad_y[i * k + f];
                product += o.x[source + f] * o.grad_y[i * k + f];
            }
            // What becomes of a composition whose sddmm gets all numbers of the run.
            if (F == Fault::numbers_handed_on) product = kernels::EdgeEpilogue(o)(product);
            if (s.problem.weighted && F != Fault::weight_gradient_unwritten) o.grad_edge_weight[id] = product;
        }
    }
}

template <Fault F>
FaultyVariant make_gradient(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<Fault::none>(id, caught_by);
    faulty.variant.op = Op::spmm_grad;
    faulty.variant.launch = &run_gradient<F>;
    return faulty;
}

// Products of the edges, and what is made of them.
template <Fault F>
void run_products(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const std::int64_t k = s.problem.k;
    kernels::EdgeEpilogue epilogue(o);
    if (F == Fault::activation_ignored) epilogue.activation = EdgeActivation::none;
    const float after = F == Fault::scaled_after_activation ? std::exchange(epilogue.scale, 1.0F) : 1.0F;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            float product = 0;
            for (std::int64_t f = 0; f < k; ++f) {
                product += o.x_row[i * k + f] * o.x[g.col_idx[e] * k + f];
                if (F == Fault::activated_within_a_sum && f == 32) product = epilogue(product);
            }
            o.y[id] = after * epilogue(s.problem.weighted ? o.edge_weight[id] * product : product);
        }
    }
}

template <Fault F>
FaultyVariant make_products(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<Fault::none>(id, caught_by);
    faulty.variant.op = Op::sddmm;
    faulty.variant.launch = &run_products<F>;
    return faulty;
}

// The maximum and its edges.
template <Fault F>
void run_maximum(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const std::int64_t k = s.problem.k;
    if (F == Fault::needs_every_output && !o.argmax) return;
    for (std::int64_t at = 0; at < g.n_rows * k; ++at) {
        const std::int64_t i = at / k;
        float largest = 0;
        std::int32_t winner = -1;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            const float w = s.problem.weighted ? o.edge_weight[id] : 1.0F;
            const float product = w * o.x[g.col_idx[e] * k + at % k];
            const bool ties = product == largest || (std::isnan(product) && std::isnan(largest));
            bool better = winner < 0 || product > largest || (std::isnan(product) && !std::isnan(largest)) ||
                          (ties && id < winner);
            if (F == Fault::last_of_equals) better = better || ties;
            if (F == Fault::nan_loses) better = better && !std::isnan(product);
            if (!better) continue;
            largest = product;
            winner = id;
        }
        o.y[at] = largest;
        if (o.argmax) o.argmax[at] = winner;
    }
}

template <Fault F>
FaultyVariant make_maximum(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<Fault::none>(id, caught_by);
    faulty.variant.can.reduce = {Reduce::max};
    faulty.variant.launch = &run_maximum<F>;
    return faulty;
}

// Attention, a row and head at a time: maximum, sum, then the weighted sum of the sources that are kept.
template <Fault F>
void run_gat(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const std::int64_t k = s.problem.k;
    const std::int64_t heads = s.problem.heads;
    const std::uint64_t seed = F == Fault::seed_offset_ignored ? o.seed : with_seed_read(o).seed;
    const float kept_scale = F == Fault::dropout_not_scaled ? 1.0F : 1.0F / (1.0F - o.dropout);
    for (std::int64_t row = 0; row < g.n_rows * heads; ++row) {
        const std::int64_t i = row / heads;
        const std::int64_t h = row % heads;
        const auto logit = [&](std::int32_t e) {
            const float score =
                o.score_row[row] + o.score_col[g.col_idx[e] * heads + (F == Fault::head_ignored ? 0 : h)];
            return score > 0 ? score : o.negative_slope * score;
        };
        float maximum = -INFINITY;
        float sum = 0;
        const auto term = [&](std::int32_t e) {
            const float l = logit(e);
            return l == -INFINITY ? 0.0F : std::exp(l - maximum);
        };
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) maximum = std::max(maximum, logit(e));
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) sum += term(e);
        std::fill(o.y + row * k, o.y + (row + 1) * k, 0.0F);
        if (o.lse) o.lse[row] = sum != 0 ? maximum + std::log(sum) : -INFINITY;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            if (!philox_keep(seed, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(h), o.dropout)) continue;
            if (sum == 0) break;
            const float alpha = kept_scale * term(e) / sum;
            for (std::int64_t f = 0; f < k; ++f) o.y[row * k + f] += alpha * o.x[(g.col_idx[e] * heads + h) * k + f];
        }
    }
}

template <Fault F>
FaultyVariant make_gat(const char* id, const char* caught_by) {
    FaultyVariant faulty = make<Fault::none>(id, caught_by);
    faulty.variant.op = Op::gat;
    faulty.variant.can.heads = true;
    faulty.variant.launch = &run_gat<F>;
    return faulty;
}

}  // namespace

std::vector<FaultyVariant> faulty_variants_on_cpu() {
    return {
        make<Fault::none>("right", ""),
        make<Fault::last_edge_dropped>("last_edge_dropped", "oracle"),
        make<Fault::weight_ignored>("weight_ignored", "oracle"),
        make<Fault::duplicate_overwritten>("duplicate_overwritten", "oracle"),
        make<Fault::tail_column_unwritten>("tail_column_unwritten", "written"),
        make<Fault::row_off_by_one>("row_off_by_one", "oracle"),
        make<Fault::graph_transposed>("graph_transposed", "oracle"),
        make<Fault::wrong_feature_tile>("wrong_feature_tile", "oracle"),
        make<Fault::truncated_operands>("truncated_operands", "oracle"),
        make<Fault::output_not_zeroed>("output_not_zeroed", "written"),
        make<Fault::write_past_the_end>("write_past_the_end", "guards"),
        make<Fault::workspace_overrun>("workspace_overrun", "guards"),
        make<Fault::not_repeatable>("not_repeatable", "repeats"),
        make<Fault::applicable_too_wide>("applicable_too_wide", "runs"),
        make<Fault::edge_order_ignored>("edge_order_ignored", "oracle"),
        make<Fault::input_overwritten>("input_overwritten", "inputs"),
        make<Fault::assumes_alignment>("assumes_alignment", "misaligned"),
        make<Fault::multiplies_by_zero>("multiplies_by_zero", "infinities"),
        make<Fault::weighs_by_zero>("weighs_by_zero", "infinities"),
        make<Fault::divides_by_zero>("divides_by_zero", "traps"),
        make<Fault::default_outside_space>("default_outside_space", "record"),
        make<Fault::refuses_without_reason>("refuses_without_reason", "record"),
        make<Fault::refuses_everything>("refuses_everything", "executes"),
        make_heads<Fault::none>("right_heads", ""),
        make_heads<Fault::head_ignored>("weights_of_one_head", "oracle"),
        make_sampled<Fault::none>("right_sample", ""),
        make_sampled<Fault::samples_wrong_edges>("samples_wrong_edges", "oracle"),
        make_conversion<Fault::none>("right_conversion", ""),
        make_conversion<Fault::edge_order_ignored>("conversion_names_ignored", "oracle"),
        make_gradient<Fault::none>("right_gradient", ""),
        make_gradient<Fault::weight_gradient_unwritten>("weight_gradient_unwritten", "written"),
        make_gradient<Fault::numbers_handed_on>("numbers_handed_on", "oracle"),
        make_products<Fault::none>("right_products", ""),
        make_products<Fault::activation_ignored>("activation_ignored", "epilogues"),
        make_products<Fault::scaled_after_activation>("scaled_after_activation", "epilogues"),
        make_products<Fault::activated_within_a_sum>("activated_within_a_sum", "epilogues"),
        make_maximum<Fault::none>("right_maximum", ""),
        make_maximum<Fault::last_of_equals>("last_of_equals", "oracle"),
        make_maximum<Fault::nan_loses>("nan_loses", "infinities"),
        make_maximum<Fault::needs_every_output>("needs_every_output", "left out"),
        make_gat<Fault::none>("right_gat", ""),
        make_gat<Fault::head_ignored>("head_ignored", "oracle"),
        make_gat<Fault::dropout_not_scaled>("dropout_not_scaled", "oracle"),
        make_gat<Fault::seed_offset_ignored>("seed_offset_ignored", "seed"),
    };
}

}  // namespace gnntune::conformance
