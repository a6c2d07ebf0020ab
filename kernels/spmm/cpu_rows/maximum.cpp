// Work     as for sums: a row's tile of features stays in cache while its edges are walked.
// Order    that of kernels/spmm/common/largest.hpp: an edge's place in the row does not matter.
#include "kernels/spmm/cpu_rows/maximum.hpp"

#include <algorithm>

#include "kernels/common/cpu.hpp"
#include "kernels/spmm/common/largest.hpp"

namespace gnntune::spmm_cpu_rows {
namespace {

template <bool ARGMAX, typename T>
__attribute__((always_inline)) inline void tiles_of(const CsrFormat& g, const T* edge_weight, const T* x, T* y,
                                                    std::int32_t* argmax, std::int32_t k, std::int32_t first,
                                                    std::int32_t last, std::int32_t tile) {
    float largest[kWidestTile];
    std::int32_t winner[kWidestTile];
    for (std::int32_t f = 0; f < k; f += tile) {
        const std::int32_t width = std::min(tile, k - f);
        for (std::int32_t i = first; i < last; ++i) {
            const bool empty = g.row_ptr[i] == g.row_ptr[i + 1];
            std::fill(largest, largest + width, empty ? 0.0F : kernels::kNoProduct);
            std::fill(winner, winner + width, empty ? -1 : kernels::kNoEdge);
            for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
                const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
                const float w = edge_weight ? to_float(edge_weight[id]) : 1.0F;
                const T* row = x + static_cast<std::int64_t>(g.col_idx[e]) * k + f;
#pragma omp simd
                for (std::int32_t c = 0; c < width; ++c) {
                    const float product = w * to_float(row[c]);
                    const bool better = ARGMAX ? kernels::replaces(product, id, largest[c], winner[c])
                                               : kernels::replaces(product, largest[c]);
                    largest[c] = better ? product : largest[c];
                    if (ARGMAX) winner[c] = better ? id : winner[c];
                }
            }
            const std::int64_t at = static_cast<std::int64_t>(i) * k + f;
            for (std::int32_t c = 0; c < width; ++c) y[at + c] = from_float<T>(largest[c]);
            if (ARGMAX) std::copy(winner, winner + width, argmax + at);
        }
    }
}

template <typename T>
__attribute__((always_inline)) inline void rows_of(const CsrFormat& g, const T* edge_weight, const T* x, T* y,
                                                   std::int32_t* argmax, std::int32_t k, std::int32_t first,
                                                   std::int32_t last, std::int32_t tile) {
    if (argmax) {
        tiles_of<true>(g, edge_weight, x, y, argmax, k, first, last, tile);
    } else {
        tiles_of<false>(g, edge_weight, x, y, argmax, k, first, last, tile);
    }
}

}  // namespace

GNNTUNE_TARGET_CLONES
void max_rows(const CsrFormat& g, const float* edge_weight, const float* x, float* y, std::int32_t* argmax,
              std::int32_t k, std::int32_t first, std::int32_t last, std::int32_t tile) {
    rows_of(g, edge_weight, x, y, argmax, k, first, last, tile);
}

GNNTUNE_TARGET_CLONES
void max_rows(const CsrFormat& g, const Float16* edge_weight, const Float16* x, Float16* y, std::int32_t* argmax,
              std::int32_t k, std::int32_t first, std::int32_t last, std::int32_t tile) {
    rows_of(g, edge_weight, x, y, argmax, k, first, last, tile);
}

GNNTUNE_TARGET_CLONES
void max_rows(const CsrFormat& g, const BFloat16* edge_weight, const BFloat16* x, BFloat16* y, std::int32_t* argmax,
              std::int32_t k, std::int32_t first, std::int32_t last, std::int32_t tile) {
    rows_of(g, edge_weight, x, y, argmax, k, first, last, tile);
}

}  // namespace gnntune::spmm_cpu_rows
