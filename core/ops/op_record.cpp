#include "core/ops/op_record.hpp"

#include <array>
#include <string>

#include "core/common/error.hpp"

namespace gnntune {
namespace {

const auto& records() {
    static const std::array kRecords = [] {
        const std::array all{
#define GNNTUNE_OP(name) &op_record_##name(),
            GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP
        };
        require_complete(all);
        return all;
    }();
    return kRecords;
}

}  // namespace

const OpRecord& record_of(Op op) {
    return *records()[static_cast<std::size_t>(op)];
}

void require_complete(std::span<const OpRecord* const> all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        const OpRecord& r = *all[i];
        const std::string who = "the record of op " + std::string(to_text(static_cast<Op>(i)));
        const auto lacks = [&](const char* what) {
            throw invalid_argument(who + " lacks " + what + "; core/ops/op_record.hpp says what it has");
        };
        if (r.op != static_cast<Op>(i)) {
            throw invalid_argument(who + " says that it is of " + std::string(to_text(r.op)) +
                                   "; core/ops/list.hpp has the names");
        }
        if (!r.meaning || *r.meaning == '\0') lacks("its meaning");
        if (!r.arrays) lacks("its arrays");
        if (!r.work) lacks("its work");
        if (!r.oracle) lacks("its oracle");
        const auto forward = static_cast<std::size_t>(r.forward);
        if (forward >= all.size() || all[forward]->forward != r.forward) {
            throw invalid_argument(who + " is a gradient of one; its forward op has to be none");
        }
    }
}

Op forward_of(Op op) {
    return record_of(op).forward;
}

std::vector<ArraySpec> arrays_of(const Query& query) {
    auto all = record_of(query.problem.op).arrays(query);
    for (ArraySpec& spec : all) spec.dtype = spec.always_f32 ? DType::f32 : query.problem.dtype;
    return all;
}

void add_weights(const Query& q, std::vector<ArraySpec>& arrays, Fill fill) {
    const std::int64_t of_edge = weight_heads(q.problem);
    if (q.problem.weighted) arrays.push_back(array(&Operands::edge_weight, q.m, of_edge, fill));
    if (q.problem.self_loop) arrays.push_back(array(&Operands::self_weight, q.n_rows, of_edge, fill));
}

Verdict defined_on(const Problem& problem, std::int64_t n_rows, std::int64_t n_cols) {
    if ((!problem.self_loop && !record_of(problem.op).square) || n_rows == n_cols) return Verdict::yes();
    return Verdict::no("self loops need a square graph, this one has " + std::to_string(n_rows) + " rows and " +
                       std::to_string(n_cols) + " columns");
}

int gathered_operands(Op op) {
    return record_of(op).gathers;
}

std::int64_t gathered_rows(const Problem& problem, const Features& features) {
    const bool columns = (problem.direction == Direction::forward) != record_of(problem.op).gathers_targets;
    return columns ? features.distinct_cols : features.counts.n_rows - features.empty_rows;
}

Work work_of(const Query& query, std::int64_t gathered_rows) {
    return record_of(query.problem.op).work(query, gathered_rows);
}

double feature_row_bytes(const Problem& p) {
    return static_cast<double>(size_of(p.dtype)) * p.k * p.heads;
}

double edge_weight_bytes(const Problem& p) {
    return static_cast<double>(size_of(p.dtype)) * weight_heads(p);
}

Work gather_work(const Query& query, std::int64_t gathered_rows, double row_bytes, std::int32_t operands) {
    const Problem& p = query.problem;
    const auto m = static_cast<double>(query.m);
    const auto n_rows = static_cast<double>(query.n_rows);
    // Self loops are n more edges without an index, between vertices that are all gathered then.
    const double loops = p.self_loop ? n_rows : 0.0;
    const double weight = edge_weight_bytes(p);
    Work work;
    work.row_bytes = row_bytes;
    work.a_bytes = m * (4.0 + (p.weighted ? weight : 0.0)) + 4.0 * (n_rows + 1) + weight * loops;
    work.gather_min_bytes = (p.self_loop ? n_rows : static_cast<double>(gathered_rows)) * row_bytes * operands;
    work.gather_max_bytes = (m + loops) * sector_bytes(row_bytes) * operands;
    work.flops = 2.0 * (m + loops) * p.k * p.heads;
    return work;
}

double sector_bytes(double bytes) {
    return 32.0 * static_cast<double>((static_cast<std::int64_t>(bytes) + 31) / 32);
}

}  // namespace gnntune
