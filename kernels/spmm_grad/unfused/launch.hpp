#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_grad_unfused {

/// Writes row_share[i] = 1 / terms of row i: its edges, and its self loop if `self_loop` says that rows have one.
/// [n_rows], and edge_share[e] = row_share of the row of edge e; [m] in the caller's order. Device memory, like all arrays
/// here. Waits for `stream` unless the graph is built in stream order.
void make_shares(const CsrFormat& csr, const CooFormat& coo, bool self_loop, float* row_share, float* edge_share,
                 bool in_stream_order, StreamHandle stream);

/// Enqueues out[i, h] = weight[i, h] share[i]; [n, heads].
void launch_products(const float* weight, const float* share, std::int64_t n, std::int32_t heads, float* out,
                     StreamHandle stream);

/// Enqueues grad_self_weight[i, h] = <grad_y[i, h, :], x[i, h, :]>, multiplied with row_share[i] if that is not null.
/// Throws on a launch error, like the others.
void launch_self_dots(std::int64_t n, std::int32_t heads, std::int32_t k, DType dtype, const float* row_share,
                      const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_grad_unfused
