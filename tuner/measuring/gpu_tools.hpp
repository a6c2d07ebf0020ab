// Small kernels that measuring needs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace gnntune::tuner {

/// Keeps `stream` busy for about `microseconds`, so that the host can enqueue what follows without gaps.
void enqueue_delay(cudaStream_t stream, int microseconds);

/// Writes `bytes` (a multiple of 16) of device memory: displaces what L2 held.
void enqueue_flush(cudaStream_t stream, void* buffer, std::size_t bytes);

/// Copies `bytes` (a multiple of 16) with 16-byte accesses.
void enqueue_copy(cudaStream_t stream, const void* source, void* target, std::size_t bytes);

/// Gathers `rows` whole rows of `row_bytes` (a power of two from 64 to 2048) at random places of a table of
/// `table_rows` rows, eight gathers in flight per lane, and adds them up: the access pattern of SpMM without its graph.
/// `sink` is one float that is written in a case that does not occur.
void enqueue_gather(cudaStream_t stream, const float* table, std::int64_t table_rows, int row_bytes, std::int64_t rows,
                    std::uint32_t seed, float* sink);

}  // namespace gnntune::tuner
