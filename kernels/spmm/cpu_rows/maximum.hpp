// spmm.cpu_rows by max.
#pragma once

#include <cstdint>

#include "core/common/float16.hpp"
#include "core/graph/formats.hpp"

namespace gnntune::spmm_cpu_rows {

/// Features that are held together at most.
inline constexpr std::int32_t kWidestTile = 256;

/// y[i, f] = max over edges e of row i of w_e x[col_e, f] for the rows [first, last), argmax[i, f] the edge that it is
/// of, if argmax is not null. edge_weight null: 1. tile: features that are held
/// together, up to kWidestTile.
void max_rows(const CsrFormat& csr, const float* edge_weight, const float* x, float* y, std::int32_t* argmax,
              std::int32_t k, std::int32_t first, std::int32_t last, std::int32_t tile);
void max_rows(const CsrFormat& csr, const Float16* edge_weight, const Float16* x, Float16* y, std::int32_t* argmax,
              std::int32_t k, std::int32_t first, std::int32_t last, std::int32_t tile);
void max_rows(const CsrFormat& csr, const BFloat16* edge_weight, const BFloat16* x, BFloat16* y, std::int32_t* argmax,
              std::int32_t k, std::int32_t first, std::int32_t last, std::int32_t tile);

}  // namespace gnntune::spmm_cpu_rows
