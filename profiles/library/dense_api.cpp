// The functions of gnntune.h that need no graph: what is checked before kernels/dense computes.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/include/gnntune/gnntune.h"
#include "kernels/dense/bias.hpp"
#include "kernels/dense/head_scores.hpp"
#include "profiles/library/abi.hpp"
#include "profiles/library/call_arrays.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/handles.hpp"
#include "profiles/library/request.hpp"
#include "profiles/library/run.hpp"

namespace lib = gnntune::library;
using gnntune::invalid_argument;
using gnntune::kernels::BiasShape;
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

std::optional<BiasShape> shape_of(std::int64_t n, std::int32_t k) {
    if (n < 0 || n > kMostRows || k < 1) return std::nullopt;
    return BiasShape{static_cast<std::int32_t>(n), k};
}

BiasShape checked_shape(std::int64_t n, std::int32_t k, gnntune_dtype dtype) {
    std::optional<BiasShape> shape = shape_of(n, k);
    if (!shape) {
        throw invalid_argument("n and k are " + std::to_string(n) + " and " + std::to_string(k) +
                               "; expected 0 <= n < 2^31 and k of at least 1");
    }
    shape->dtype = lib::dtype_of("dtype", dtype);
    return *shape;
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
        lib::CallArrays checked(gnntune::size_of(shape.dtype));
        checked.read("x", x, n * width);
        checked.read("att_row", att_row, width);
        checked.read("att_col", att_col, width);
        checked.written("score_row", score_row, n * heads);
        checked.written("score_col", score_col, n * heads);
        checked.require_apart();
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
        lib::CallArrays checked(gnntune::size_of(shape.dtype));
        checked.read("x", x, n * width);
        checked.read("att_row", att_row, width);
        checked.read("att_col", att_col, width);
        checked.read("grad_score_row", grad_score_row, n * heads);
        checked.read("grad_score_col", grad_score_col, n * heads);
        checked.written("grad_x", grad_x, n * width, true);
        checked.written("grad_att_row", grad_att_row, width, true);
        checked.written("grad_att_col", grad_att_col, width, true);
        const std::size_t needed = gnntune::kernels::head_score_grads_workspace(shape);
        lib::check_workspace(needed, "gnntune_head_scores_grad", "gnntune_head_scores_workspace_bytes", workspace,
                             workspace_bytes);
        checked.require_apart(workspace, needed);
        const gnntune::kernels::HeadScoreGrads arrays{x,      att_row,      att_col,     grad_score_row, grad_score_col,
                                                      grad_x, grad_att_row, grad_att_col};
        const lib::DeviceGuard guard(context->context->device);
        gnntune::kernels::head_score_grads(context->context->device.backend, shape, arrays, workspace, stream);
    });
}

size_t gnntune_bias_grad_workspace_bytes(int64_t n, int32_t k) {
    const std::optional<BiasShape> shape = shape_of(n, k);
    return shape ? gnntune::kernels::bias_grad_workspace(*shape) : 0;
}

gnntune_status gnntune_bias_add(const gnntune_context* context, int64_t n, int32_t k, gnntune_dtype dtype,
                                const void* x, const void* bias, void* y, gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(context, "context");
        const BiasShape shape = checked_shape(n, k, dtype);
        lib::CallArrays checked(gnntune::size_of(shape.dtype));
        if (x != y) checked.read("x", x, n * k);
        checked.read("bias", bias, k);
        checked.written("y", y, n * k);
        checked.require_apart();
        const lib::DeviceGuard guard(context->context->device);
        gnntune::kernels::bias_add(context->context->device.backend, shape, x, bias, y, stream);
    });
}

gnntune_status gnntune_bias_grad(const gnntune_context* context, int64_t n, int32_t k, gnntune_dtype dtype,
                                 const void* grad_y, void* grad_bias, void* workspace, size_t workspace_bytes,
                                 gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(context, "context");
        const BiasShape shape = checked_shape(n, k, dtype);
        lib::CallArrays checked(gnntune::size_of(shape.dtype));
        checked.read("grad_y", grad_y, n * k);
        checked.written("grad_bias", grad_bias, k);
        const std::size_t needed = gnntune::kernels::bias_grad_workspace(shape);
        lib::check_workspace(needed, "gnntune_bias_grad", "gnntune_bias_grad_workspace_bytes", workspace,
                             workspace_bytes);
        checked.require_apart(workspace, needed);
        const lib::DeviceGuard guard(context->context->device);
        gnntune::kernels::bias_grad(context->context->device.backend, shape, grad_y, grad_bias, workspace, stream);
    });
}

}  // extern "C"
