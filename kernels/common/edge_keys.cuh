// Edges as 64-bit numbers for a radix sort: what is sorted by, what goes along, and the place in the caller's order in
// the lowest bits. Where all fit, a sort moves one array, and nothing has to be gathered by the order that it gives.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "core/graph/edge_walk.cuh"

namespace gnntune::kernels {

/// Bits that hold every number below `n`, up to 2^31; at least one.
inline int bits_below(std::int64_t n) {
    int bits = 1;
    while (bits < 31 && (n - 1) >> bits > 0) ++bits;
    return bits;
}

/// Bits of places below `m` behind `others` bits of a number; 0 where both are more than 64.
inline int id_bits(int others, std::int64_t m) {
    const int bits = bits_below(m);
    return others + bits <= 64 ? bits : 0;
}

/// The lowest `bits` < 64 of a number.
__host__ __device__ __forceinline__ std::uint64_t low_bits(std::uint64_t number, int bits) {
    return number & ((std::uint64_t{1} << bits) - 1);
}

/// Blocks that walk `m` edges on the current device (core/graph/edge_walk.cuh).
inline unsigned walk_blocks(std::int64_t m) {
    int device = 0;
    int multiprocessors = 0;
    GNNTUNE_CUDA(cudaGetDevice(&device));
    GNNTUNE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(edge_walk::grid_blocks(m, multiprocessors));
}

}  // namespace gnntune::kernels
