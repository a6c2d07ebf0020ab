// Rows of another length: to[r, f] = from[r, f] for f < from_width, 0 behind.
//
// Layout   from [rows, from_width], to [rows, to_width], row-major, aligned to 16 bytes; elements are words W of two or
//          four bytes, whatever they mean; device memory.
// Work     grid.y -> a matrix; thread -> 16 bytes of its copy, wherever rows begin and end in them.
// Data     A thread loads each of its elements by itself, all of them under way at once; a warp's are neighbours, so that
//          sectors come from L1 but once. Copies are written 16 bytes at a time, their last elements one by one.
// Shared   none.  Atomics: none.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/common/elements.cuh"
#include "kernels/common/padded/launch.hpp"

namespace gnntune::kernels {

template <typename W>
__global__ void __launch_bounds__(kRowCopyThreads) copy_rows_kernel(const __grid_constant__ RowCopies c) {
    constexpr int kElements = kRowCopyBytes / static_cast<int>(sizeof(W));
    const RowCopies::Copy copy = c.copies[blockIdx.y];
    const auto from_width = static_cast<std::uint32_t>(c.from_width);
    const auto to_width = static_cast<std::uint32_t>(c.to_width);
    const std::uint64_t elements = static_cast<std::uint64_t>(copy.rows) * to_width;
    const std::uint64_t first = (std::uint64_t{blockIdx.x} * kRowCopyThreads + threadIdx.x) * kElements;
    if (first >= elements) return;
    // A division of 64 bits takes five times as long.
    const std::uint64_t row = first >> 32 == 0 ? static_cast<std::uint32_t>(first) / to_width : first / to_width;
    auto f = static_cast<std::uint32_t>(first - row * to_width);
    const W* from = static_cast<const W*>(copy.from) + row * from_width + f;
    Pack<W, kElements> out;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        out.v[i] = W{0};
        if (f < from_width && first + static_cast<unsigned>(i) < elements) out.v[i] = __ldg(from);
        ++f;
        ++from;
        if (f == to_width) {
            f = 0;
            from += static_cast<std::int64_t>(from_width) - static_cast<std::int64_t>(to_width);
        }
    }
    W* to = static_cast<W*>(copy.to) + first;
    if (first + kElements <= elements) {
        *reinterpret_cast<uint4*>(to) = reinterpret_cast<const uint4&>(out);
    } else {
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            if (first + static_cast<unsigned>(i) < elements) to[i] = out.v[i];
        }
    }
}

}  // namespace gnntune::kernels
