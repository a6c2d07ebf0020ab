#include "kernels/spmm/dense_blocks/plan.hpp"

#include <algorithm>

#include "core/gpu/device_buffer.hpp"
#include "kernels/common/storage.hpp"

namespace gnntune::spmm_dense_blocks {

void cut_block_rows(Plan& plan, StreamHandle stream) {
    const formats::DenseBlocksFormat& g = *plan.blocks;
    const auto ptr =
        to_host(g.block_ptr, static_cast<std::size_t>(g.n_block_rows) + 1, static_cast<cudaStream_t>(stream));
    std::vector<BlockPiece> pieces;
    std::vector<kernels::SplitRow> split;
    std::int32_t slots = 0;
    for (std::int32_t w = 0; w < g.n_block_rows; ++w) {
        const std::int32_t begin = ptr[static_cast<std::size_t>(w)];
        const std::int32_t end = ptr[static_cast<std::size_t>(w) + 1];
        // Pieces of like length; a block row without blocks is one piece, which writes what the rest has, or zeros.
        const std::int32_t count = std::max(1, (end - begin - 1) / plan.params.chunk + 1);
        const std::int32_t length = (end - begin + count - 1) / count;
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t from = std::min(end, begin + i * length);
            const std::int32_t to = std::min(end, from + length);
            pieces.push_back({w, from, to, count > 1 ? slots : -1, count, i});
        }
        if (count == 1) continue;
        const std::int32_t first_row = w * formats::kDenseBlockSize;
        const std::int32_t rows = std::min(g.n_rows - first_row, formats::kDenseBlockSize);
        for (std::int32_t r = 0; r < rows; ++r) split.push_back({first_row + r, slots + r * count, count});
        slots += formats::kDenseBlockSize * count;
        plan.split.most_pieces = std::max(plan.split.most_pieces, count);
    }
    // Long pieces first, so that nobody waits for them; the others in their order, which shares rows of x.
    std::stable_partition(pieces.begin(), pieces.end(),
                          [&](const BlockPiece& p) { return 2 * (p.end - p.begin) > plan.params.chunk; });
    plan.pieces = to_device(pieces.data(), pieces.size());
    plan.split.split = to_device(split.data(), split.size());
    plan.split.slots = slots;
    kernels::with_storage(plan.dtype, [&]<typename T>(std::type_identity<T>) { prepare_typed<T>(plan); });
}

std::size_t workspace_bytes(const Plan& p) {
    const auto rows = static_cast<std::size_t>(p.split.slots) + static_cast<std::size_t>(p.blocks->n_rest_pieces);
    return rows * static_cast<std::size_t>(p.k) * sizeof(float);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(p.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(p, o, workspace, stream); });
}

}  // namespace gnntune::spmm_dense_blocks
