// The functions of gnntune.h that need no graph: what is checked before kernels/dense computes.
#include "kernels/dense/head_scores.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/include/gnntune/gnntune.h"
#include "profiles/library/abi.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/handles.hpp"
#include "profiles/library/request.hpp"
#include "profiles/library/run.hpp"

namespace lib = gnntune::library;
using gnntune::invalid_argument;
using gnntune::kernels::HeadShape;

namespace {

constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostColumns = kMostRows;

/// Nothing for sizes that are refused.
std::optional<HeadShape> shape_of(std::int64_t n, std::int32_t heads, std::int32_t k) {
    if (n < 0 || n > kMostRows || heads < 1 || k < 1 || std::int64_t{heads} * k > kMostColumns) return std::nullopt;
    return HeadShape{static_cast<std::int32_t>(n), heads, k};
}

HeadShape checked_shape(std::int64_t n, std::int32_t heads, std::int32_t k, gnntune_dtype dtype) {
    std::optional<HeadShape> shape = shape_of(n, heads, k);
    if (!shape) {
        throw invalid_argument("n, heads and k are " + std::to_string(n) + ", " + std::to_string(heads) + " and " +
                               std::to_string(k) +
                               "; expected 0 <= n < 2^31, heads and k of at least 1, and heads k < 2^31");
    }
    shape->dtype = lib::dtype_of("dtype", dtype);
    return *shape;
}

/// `elements` of 0 need no memory.
void check(const HeadShape& shape, const char* name, const void* data, std::int64_t elements, bool optional = false) {
    const std::size_t size = gnntune::size_of(shape.dtype);
    if (!data && !optional && elements > 0) {
        throw invalid_argument(std::string(name) + " is NULL; expected " + std::to_string(elements) + " elements");
    }
    if (reinterpret_cast<std::uintptr_t>(data) % size != 0) {
        throw invalid_argument(std::string(name) + " is not aligned to the " + std::to_string(size) +
                               " bytes of an element");
    }
}

}  // namespace

extern "C" {

size_t gnntune_head_scores_workspace_bytes(int64_t n, int32_t heads, int32_t k) {
    const std::optional<HeadShape> shape = shape_of(n, heads, k);
    return shape ? gnntune::kernels::head_score_grads_workspace(*shape) : 0;
}

gnntune_status gnntune_head_scores(const gnntune_context* context, int64_t n, int32_t heads, int32_t k,
                                   gnntune_dtype dtype, const void* x, const void* att_row, const void* att_col,
                                   void* score_row, void* score_col, gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(context, "context");
        const HeadShape shape = checked_shape(n, heads, k, dtype);
        const std::int64_t width = std::int64_t{heads} * k;
        check(shape, "x", x, n * width);
        check(shape, "att_row", att_row, width);
        check(shape, "att_col", att_col, width);
        check(shape, "score_row", score_row, n * heads);
        check(shape, "score_col", score_col, n * heads);
        const gnntune::kernels::HeadScores arrays{x, att_row, att_col, score_row, score_col};
        const lib::DeviceGuard guard(context->context->device);
        gnntune::kernels::head_scores(context->context->device.backend, shape, arrays, stream);
    });
}

gnntune_status gnntune_head_scores_grad(const gnntune_context* context, int64_t n, int32_t heads, int32_t k,
                                        gnntune_dtype dtype, const void* x, const void* att_row, const void* att_col,
                                        const void* grad_score_row, const void* grad_score_col, void* grad_x,
                                        void* grad_att_row, void* grad_att_col, void* workspace, size_t workspace_bytes,
                                        gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(context, "context");
        const HeadShape shape = checked_shape(n, heads, k, dtype);
        const std::int64_t width = std::int64_t{heads} * k;
        check(shape, "x", x, n * width);
        check(shape, "att_row", att_row, width);
        check(shape, "att_col", att_col, width);
        check(shape, "grad_score_row", grad_score_row, n * heads);
        check(shape, "grad_score_col", grad_score_col, n * heads);
        check(shape, "grad_x", grad_x, n * width, true);
        check(shape, "grad_att_row", grad_att_row, width, true);
        check(shape, "grad_att_col", grad_att_col, width, true);
        lib::check_workspace(gnntune::kernels::head_score_grads_workspace(shape), "gnntune_head_scores_grad",
                             "gnntune_head_scores_workspace_bytes", workspace, workspace_bytes);
        const gnntune::kernels::HeadScoreGrads arrays{x,      att_row,      att_col,     grad_score_row, grad_score_col,
                                                      grad_x, grad_att_row, grad_att_col};
        const lib::DeviceGuard guard(context->context->device);
        gnntune::kernels::head_score_grads(context->context->device.backend, shape, arrays, workspace, stream);
    });
}

}  // extern "C"
