#include "core/registry/typical.hpp"

#include <utility>

namespace gnntune {

Query typical_query(const Problem& problem, const Device& device) {
    Query query;
    query.problem = problem;
    query.n_rows = 100'000;
    query.n_cols = 100'000;
    query.m = 1'000'000;
    query.device = &device;
    return query;
}

namespace {

std::optional<Query> query_of_width(const Variant& variant, std::int32_t k, DType dtype, const Device& device) {
    for (const auto& [weighted, self_loop] : {std::pair{true, false}, {false, false}, {true, true}}) {
        for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::max}) {
            if (self_loop && reduce == Reduce::max) continue;  // there is no such problem
            Problem problem;
            problem.op = variant.op;
            problem.k = k;
            problem.dtype = dtype;
            problem.weighted = weighted;
            problem.reduce = reduce;
            problem.self_loop = self_loop;
            Query query = typical_query(normalised(problem), device);
            if (query.problem.dtype != dtype) continue;  // the op has no numbers
            if (takes(variant, query)) return query;
            // Formats for small or dense graphs refuse the typical size.
            query.n_rows = query.n_cols = 4000;
            if (takes(variant, query)) return query;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Query> possible_query(const Variant& variant, std::int32_t k, DType dtype, const Device& device) {
    // Some variants are for widths that are no whole vectors.
    auto query = query_of_width(variant, k, dtype, device);
    return query ? query : query_of_width(variant, k + 1, dtype, device);
}

std::optional<Query> possible_query(const Variant& variant, std::int32_t k, const Device& device) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        if (auto query = possible_query(variant, k, dtype, device)) return query;
    }
    return std::nullopt;
}

}  // namespace gnntune
