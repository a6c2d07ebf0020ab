#include "core/registry/registry.hpp"

#include <algorithm>
#include <string>

#include "core/common/error.hpp"
#include "core/registry/arrays.hpp"
#include "core/registry/errata.hpp"

namespace gnntune {

std::string_view to_text(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return "fp32";
        case Precision::tf32:
            return "tf32";
        case Precision::fp16:
            return "fp16";
        case Precision::bf16:
            return "bf16";
    }
    return "?";
}

Verdict defined_on(const Problem& problem, std::int64_t n_rows, std::int64_t n_cols) {
    if ((!problem.self_loop && problem.op != Op::gcn_norm) || n_rows == n_cols) return Verdict::yes();
    return Verdict::no("self loops need a square graph, this one has " + std::to_string(n_rows) + " rows and " +
                       std::to_string(n_cols) + " columns");
}

void Registry::add(const Variant& v) {
    const bool complete = v.id && v.summary && v.applicable && v.space && v.default_params && v.valid &&
                          v.deterministic && v.formats && v.prepare && v.workspace_bytes && v.launch && v.cost_terms;
    if (!complete) {
        throw invalid_argument(std::string("variant ") + (v.id ? v.id : "(no id)") +
                               ": the record is incomplete; docs/adding-a-kernel.md lists its fields");
    }
    if (find(v.id)) throw invalid_argument(std::string("variant ") + v.id + " is registered twice; ids must be unique");
    const auto place = std::upper_bound(variants_.begin(), variants_.end(), v, [](const Variant& a, const Variant& b) {
        return std::string_view(a.id) < b.id;
    });
    variants_.insert(place, v);
}

void Registry::add(const FormatBuilder& builder) {
    if (find_format(builder.id, builder.backend)) {
        throw invalid_argument(std::string("format ") + builder.id + " is registered twice for one backend");
    }
    formats_.push_back(builder);
}

const Variant* Registry::find(std::string_view id) const {
    for (const Variant& v : variants_) {
        if (id == v.id) return &v;
    }
    return nullptr;
}

const FormatBuilder* Registry::find_format(std::string_view id, Backend backend) const {
    for (const FormatBuilder& f : formats_) {
        if (id == f.id && backend == f.backend) return &f;
    }
    return nullptr;
}

Verdict Registry::applicable(const Variant& v, const Query& query) const {
    if (v.op != query.problem.op) return Verdict::no("computes " + std::string(to_text(v.op)));
    if (v.backend != query.device->backend) return Verdict::no("runs on " + std::string(to_text(v.backend)));
    if (v.backend == Backend::cuda && query.device->compute_capability < v.min_compute_capability) {
        return Verdict::no("needs compute capability " + std::to_string(v.min_compute_capability / 10) + "." +
                           std::to_string(v.min_compute_capability % 10) + ", this device has " +
                           query.device->environment.compute_capability);
    }
    const Verdict defined = defined_on(query.problem, query.n_rows, query.n_cols);
    return defined ? v.applicable(query) : defined;
}

std::pair<int, std::int32_t> Registry::default_place(const Variant& v, const Query& query,
                                                     const Constraints& constraints) {
    const bool many = constraints.expected_calls >= kCallsOfPreferred;
    return {many && v.preferred && v.preferred(query) ? 0 : 1, v.default_rank};
}

bool Registry::default_sees_features(Op op, Backend backend) const {
    return std::any_of(variants_.begin(), variants_.end(),
                       [&](const Variant& v) { return v.op == op && v.backend == backend && v.preferred && !v.parts; });
}

Config Registry::default_config(const Query& query, const Constraints& constraints) const {
    return first_choice(query, constraints, true);
}

Config Registry::default_part(const Query& query) const {
    return first_choice(query, {}, false);
}

Config Registry::first_choice(const Query& query, const Constraints& constraints, bool compositions) const {
    const Variant* best = nullptr;
    std::pair<int, std::int32_t> best_place;
    Params best_params;
    std::string refusals;
    for (const Variant& v : variants_) {
        if (v.op != query.problem.op || v.backend != query.device->backend || v.approximate) continue;
        if (v.precision != Precision::fp32 && constraints.max_error <= 0) continue;
        if (v.parts && !compositions) continue;
        const Verdict verdict = applicable(v, query);
        if (!verdict) {
            refusals += std::string("; ") + v.id + ": " + verdict.reason;
            continue;
        }
        if (v.operand_alignment > constraints.operand_alignment) {
            refusals += std::string("; ") + v.id + ": needs operands aligned to " +
                        std::to_string(v.operand_alignment) + " bytes";
            continue;
        }
        Params params = v.default_params(query);
        if (const Erratum* erratum = erratum_of(v, params, query)) {
            auto others = v.space(query);
            const auto next = std::find_if(others.begin(), others.end(), [&](const Params& other) {
                return !erratum_of(v, other, query) && (!constraints.deterministic || v.deterministic(other));
            });
            if (next == others.end()) {
                refusals += std::string("; ") + v.id + ": erratum: " + erratum->reason;
                continue;
            }
            params = std::move(*next);
        }
        if (constraints.deterministic && !v.deterministic(params)) {
            refusals += std::string("; ") + v.id + ": not deterministic";
            continue;
        }
        const auto place = default_place(v, query, constraints);
        if (best && best_place <= place) continue;
        best = &v;
        best_place = place;
        best_params = std::move(params);
    }
    if (!best) {
        throw unsupported("no variant of this build can do " + to_text(query.problem) + " on " +
                          std::string(to_text(query.device->backend)) + refusals);
    }
    return {best->id, best_params};
}

int gathered_operands(Op op) {
    return forward_of(op) == Op::attention ? 2 : 1;
}

std::int64_t gathered_rows(const Problem& problem, const Features& features) {
    // spmm_grad gathers a row of grad_y per edge: the vertices at the other end.
    const bool columns = (problem.direction == Direction::forward) != (problem.op == Op::spmm_grad);
    return columns ? features.distinct_cols : features.counts.n_rows - features.empty_rows;
}

Work work_of(const Query& query, std::int64_t gathered_rows) {
    const Problem& p = query.problem;
    const auto m = static_cast<double>(query.m);
    const auto n_rows = static_cast<double>(query.n_rows);
    const auto n_cols = static_cast<double>(query.n_cols);
    const auto element = static_cast<double>(size_of(p.dtype));
    const double row_bytes = p.op == Op::gcn_norm ? element : element * p.k * p.heads;  // gcn_norm gathers a degree
    // Self loops are n more edges without an index, between vertices that are all gathered then.
    const double loops = p.self_loop ? n_rows : 0.0;
    Work work;
    work.row_bytes = row_bytes;
    const double weight = element * weight_heads(p);  // bytes of an edge's
    work.a_bytes = m * (4.0 + (p.weighted ? weight : 0.0)) + 4.0 * (n_rows + 1) + weight * loops;
    const double operands = gathered_operands(p.op);
    work.gather_min_bytes = (p.self_loop ? n_rows : static_cast<double>(gathered_rows)) * row_bytes * operands;
    // A gathered row is moved in 32-byte sectors.
    const double sector_bytes = 32.0 * static_cast<double>((static_cast<std::int64_t>(row_bytes) + 31) / 32);
    work.gather_max_bytes = (m + loops) * sector_bytes * operands;
    work.flops = 2.0 * (m + loops) * p.k * p.heads;
    // What won is an int32 for each element of a result row: written by spmm, gathered with the row by its gradient.
    const std::int64_t argmax_bytes = p.reduce == Reduce::max ? std::int64_t{4} * p.k * p.heads : 0;
    switch (p.op) {
        case Op::spmm:
            work.out_bytes = n_rows * (row_bytes + static_cast<double>(argmax_bytes));
            break;
        case Op::sddmm:
            work.out_bytes = n_rows * row_bytes + element * m * p.heads;
            break;
        case Op::spmm_grad: {
            // Grouped by column. A gradient of weights takes the column's row of x, and as many flops again.
            work.a_bytes += 4.0 * (n_cols - n_rows);
            work.out_bytes = n_cols * row_bytes + (p.weighted ? weight * m : 0.0) + weight * loops;
            if (p.weighted || p.self_loop) work.out_bytes += n_cols * row_bytes;
            work.gather_min_bytes += static_cast<double>(gathered_rows * argmax_bytes);
            work.gather_max_bytes += m * 32.0 * static_cast<double>((argmax_bytes + 31) / 32);
            work.flops += 2.0 * ((p.weighted ? m : 0.0) + loops) * p.k * p.heads;
            break;
        }
        case Op::gcn_norm:
            work.out_bytes = element * (m + n_rows);
            work.flops = (p.weighted ? 3.0 : 1.0) * m + 2.0 * n_rows;
            break;
        case Op::edge_softmax: {
            // Columns do not matter; logits are read and results written in order.
            const double values = element * static_cast<double>(query.m) * p.heads;
            work.a_bytes = 4.0 * (static_cast<double>(query.n_rows) + 1);
            work.gather_min_bytes = work.gather_max_bytes = 0;
            work.out_bytes = 2.0 * values;
            work.flops = 4.0 * static_cast<double>(query.m) *
                         p.heads;  // maximum, exponential, sum and quotient: four for each value
            break;
        }
        case Op::gat:
        case Op::gat_grad: {
            const double score_bytes = element * p.heads;
            const double rows = static_cast<double>(query.n_rows);
            const double lse_bytes = 4.0 * p.heads;
            const double score_sectors = 32.0 * static_cast<double>((static_cast<std::int64_t>(score_bytes) + 31) / 32);
            const bool backward = p.op == Op::gat_grad;
            // Backward, an edge moves two rows of features: x for the scores, and grad_y or grad_x for the features.
            if (backward) work.gather_max_bytes *= 2.0, work.flops *= 2.0;
            work.gather_min_bytes += static_cast<double>(gathered_rows) * score_bytes;
            work.gather_max_bytes += static_cast<double>(query.m) * score_sectors;
            // In order: y, lse and score_row; backward grad_y, y, score_row, lse, grad_score_row, and both results of
            // columns.
            work.out_bytes = backward ? rows * (2.0 * row_bytes + 2.0 * score_bytes + lse_bytes) +
                                            static_cast<double>(query.n_cols) * (row_bytes + score_bytes)
                                      : rows * (row_bytes + score_bytes + lse_bytes);
            break;
        }
        case Op::agnn:
            work.flops *= 2.0;  // dot product and sum
            // In order: x_row, y and lse.
            work.out_bytes = static_cast<double>(query.n_rows) * (2.0 * row_bytes + 4.0 * p.heads);
            break;
        case Op::agnn_grad:
            // An edge moves two rows of features: x for the dot products, and what is added to grad_x.
            work.gather_max_bytes *= 2.0;
            work.flops *= 5.0;  // two dot products; sums of x, of x_row and of grad_y
            // In order: x_row, grad_y, y, lse and grad_x_row; grad_x.
            work.out_bytes = static_cast<double>(query.n_rows) * (4.0 * row_bytes + 4.0 * p.heads) +
                             static_cast<double>(query.n_cols) * row_bytes;
            break;
        case Op::attention:
            work.flops *= 2.0;  // dot product and sum
            // In order: x_row, y and lse.
            work.out_bytes = n_rows * (2.0 * row_bytes + 4.0 * p.heads);
            break;
        case Op::attention_grad:
            // An edge moves four rows of features: key and x, and what is added to their gradients.
            work.gather_max_bytes *= 2.0;
            work.flops *= 5.0;  // two dot products; sums of key, of x_row and of grad_y
            // In order: x_row, grad_y, y, lse and grad_x_row; grad_x and grad_key.
            work.out_bytes = n_rows * (4.0 * row_bytes + 4.0 * p.heads) + n_cols * 2.0 * row_bytes;
            break;
        case Op::coo_to_csr:
        case Op::csr_to_csc: {
            // Read: both ends of every edge, or the CSR arrays. Written: offsets, other ends, positions.
            const std::int64_t groups = p.op == Op::coo_to_csr ? query.n_rows : query.n_cols;
            work = {};
            work.a_bytes = p.op == Op::coo_to_csr
                               ? 8.0 * static_cast<double>(query.m)
                               : 4.0 * (static_cast<double>(query.m) + static_cast<double>(query.n_rows) + 1);
            work.out_bytes = 8.0 * static_cast<double>(query.m) + 4.0 * (static_cast<double>(groups) + 1);
            break;
        }
        default:
            work.out_bytes = n_rows * row_bytes;
            break;
    }
    return work;
}

}  // namespace gnntune
