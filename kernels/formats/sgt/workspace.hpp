// A translation that runs as an op: its result and its scratch memory in one workspace of the largest sizes there may
// be, so that nothing is allocated or read back between counting and filling.
#pragma once

#include "kernels/formats/sgt/translate.hpp"

namespace gnntune::formats {

struct SgtWorkspace {
    SgtWorkspace(std::int32_t n_rows, std::int64_t m, const SgtShape& shape, std::size_t scratch_bytes) {
        const auto edges = static_cast<std::size_t>(m);
        const auto blocks = static_cast<std::size_t>(sgt_max_blocks(n_rows, m, shape));
        const auto take = [this](std::size_t bytes) { return take_place(bytes, &total); };
        scratch = take(scratch_bytes);
        window_ptr = take((static_cast<std::size_t>(sgt_windows(n_rows, shape)) + 1) * 4);
        block_ptr = take((blocks + 1) * 4);
        block_cols = take(blocks * static_cast<std::size_t>(shape.block_width) * 4);
        tile_position = take(edges * shape.position_bytes());
        edge_id = take(edges * 4);
    }

    SgtArrays arrays(void* workspace) const {
        auto* base = static_cast<unsigned char*>(workspace);
        const auto ids = [base](std::size_t place) { return reinterpret_cast<std::int32_t*>(base + place); };
        return {ids(window_ptr), ids(block_ptr), ids(block_cols), base + tile_position, ids(edge_id)};
    }

    std::size_t scratch = 0;
    std::size_t window_ptr = 0;
    std::size_t block_ptr = 0;
    std::size_t block_cols = 0;
    std::size_t tile_position = 0;
    std::size_t edge_id = 0;
    std::size_t total = 0;
};

}  // namespace gnntune::formats
