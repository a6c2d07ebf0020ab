// A list of edges as graphs take it: copied, narrowed to int32, with self loops behind. No graph is needed for it.
//
//   edges[0, :] = sources[0 ... m - 1], 0 ... loops - 1
//   edges[1, :] = targets[0 ... m - 1], 0 ... loops - 1
#pragma once

#include <cstdint>

#include "core/registry/variant.hpp"

namespace gnntune::kernels {

struct EdgeList {
    const void* sources = nullptr;  ///< [m]
    const void* targets = nullptr;  ///< [m]
    bool wide = false;              ///< they are int64, which fit int32; else int32
    std::int64_t m = 0;
    std::int32_t loops = 0;
    std::int32_t* edges = nullptr;  ///< [2, m + loops], which share no memory with the others

    std::int64_t length() const { return m + loops; }
};

/// `seen_loop`, unless null, becomes 1 if one of the m edges is a self loop, and is left alone otherwise. It is memory that
/// the host and the device share. On a GPU it enqueues on the stream, and the device is current; on the CPU the stream is
/// passed over.
void copy_edge_list(Backend backend, const EdgeList& list, std::int32_t* seen_loop, StreamHandle stream);

/// Of a build with CUDA: edge_list.cu.
void copy_edge_list_on_gpu(const EdgeList& list, std::int32_t* seen_loop, StreamHandle stream);

}  // namespace gnntune::kernels
