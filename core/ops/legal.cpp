#include "core/ops/legal.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "core/ops/arrays.hpp"

namespace gnntune {
namespace {

// Sizes that no width or number of heads is taken for.
std::vector<ArraySpec> arrays_with(const Problem& problem) {
    Query query;
    query.problem = problem;
    query.n_rows = 1'000'003;
    query.n_cols = 2'000'003;
    query.m = 16'000'057;
    return arrays_of(query);
}

bool same_shape(const ArraySpec& a, const ArraySpec& b) {
    return a.name == b.name && a.rows == b.rows && a.width == b.width && a.dtype == b.dtype;
}

bool is_valid(const Problem& problem) {
    try {
        validate(problem);
    } catch (const Error&) {
        return false;
    }
    return true;
}

}  // namespace

bool has_own_heads(const Problem& problem) {
    Problem folded = problem;
    folded.k *= folded.heads;
    folded.heads = 1;
    const auto apart = arrays_with(problem);
    const auto together = arrays_with(folded);
    return !std::equal(apart.begin(), apart.end(), together.begin(), together.end(), same_shape);
}

std::vector<Problem> legal_problems(std::span<const Op> ops, std::span<const std::int32_t> widths,
                                    std::span<const std::int32_t> heads) {
    std::vector<Problem> out;
    const auto add = [&](const Problem& asked) {
        Problem p = normalised(asked);
        const std::int32_t width = p.k;  // 1 for an op without one, whichever was asked for
        p.k = asked.k;
        if (p != asked) return;
        p.k = width;
        if (!is_valid(p) || (p.heads > 1 && !has_own_heads(p))) return;
        if (std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
    };
    for (const Op op : ops) {
        for (const std::int32_t h : heads) {
            for (const std::int32_t k : widths) {
                for (const DType dtype : every_dtype()) {
                    for (const Reduce reduce : every_reduce()) {
                        for (const bool weighted : {true, false}) {
                            for (const Direction direction : every_direction()) {
                                for (const bool self_loop : {false, true}) {
                                    add({op, k, h, dtype, reduce, weighted, direction, self_loop});
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    return out;
}

}  // namespace gnntune
