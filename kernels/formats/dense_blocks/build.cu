// Dense blocks from CSR, balanced over edges:
//
//   keys      (block row, block column, row, column) of every edge; whether columns ascend strictly in every row
//   sort      a stable radix sort: edges of a block, of its rows and of its cells become neighbours
//   number    inclusive sums of where cells and blocks begin; blocks of too few cells fall out
//   part      exclusive sums: place of each edge in its block's list, or in the rest
//   write     masks and first positions, the edges of the rest and their pieces
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/edge_keys.cuh"
#include "kernels/common/host.hpp"
#include "kernels/formats/csr/convert.hpp"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"
#include "kernels/formats/dense_blocks/kernel.cuh"

namespace gnntune {
namespace formats {
namespace {

using Ids = DeviceBuffer<std::int32_t>;
using Keys = DeviceBuffer<std::uint64_t>;

void inclusive_sums(Ids& values, std::int32_t n, cudaStream_t stream) {
    std::size_t bytes = 0;
    GNNTUNE_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, values.data(), values.data(), n, stream));
    DeviceBuffer<unsigned char> temporary(bytes);
    GNNTUNE_CUDA(cub::DeviceScan::InclusiveSum(temporary.data(), bytes, values.data(), values.data(), n, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));  // before the temporary is freed
}

/// `n` up to 2^31: one more than there are edges.
void exclusive_sums(Ids& values, std::int64_t n, cudaStream_t stream) {
    std::size_t bytes = 0;
    GNNTUNE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, values.data(), values.data(), n, stream));
    DeviceBuffer<unsigned char> temporary(bytes);
    GNNTUNE_CUDA(cub::DeviceScan::ExclusiveSum(temporary.data(), bytes, values.data(), values.data(), n, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
}

struct Storage {
    std::shared_ptr<const CsrFormat> csr;  ///< positions and edge_id may be its own
    Ids block_ptr;
    Ids block_col;
    DeviceBuffer<DenseBlockRow> block_rows;
    Ids edge_id;
    Ids rest_ptr;
    Ids rest_begin;
    Ids rest_col;
    Ids rest_id;

    std::size_t bytes() const {
        return block_ptr.bytes() + block_col.bytes() + block_rows.bytes() + edge_id.bytes() + rest_ptr.bytes() +
               rest_begin.bytes() + rest_col.bytes() + rest_id.bytes();
    }
};

/// Edges by key, and their places in the CSR format.
struct Sorted {
    Keys keys;
    Ids positions;
    int col_bits = 1;
    bool ascending = true;  ///< the CSR format's columns ascend strictly in every row
};

Sorted sort_edges(const CsrFormat& csr, std::int32_t n_block_rows, StreamHandle handle) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const auto m = static_cast<std::size_t>(csr.m);
    Sorted out{Keys(m), Ids(m),
               kernels::bits_below((std::int64_t{csr.n_cols} + kDenseBlockSize - 1) / kDenseBlockSize)};
    Keys keys(m);
    Ids positions(m);
    Ids descends(1);
    expand_rows(csr, positions.data(), handle);
    GNNTUNE_CUDA(cudaMemsetAsync(descends.data(), 0, descends.bytes(), stream));
    write_block_keys<<<kernels::blocks_for(csr.m, kBlockThreads), kBlockThreads, 0, stream>>>(
        positions.data(), csr.col_idx, csr.m, out.col_bits, keys.data(), descends.data());
    GNNTUNE_CUDA(cudaGetLastError());
    fill_positions(positions.data(), csr.m, handle);  // the rows have been read
    const int end = kCellBits + out.col_bits + kernels::bits_below(n_block_rows);
    const auto edges = static_cast<std::int32_t>(csr.m);
    const std::uint64_t* unsorted = keys.data();
    const std::int32_t* places = positions.data();
    std::size_t bytes = 0;
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, unsorted, out.keys.data(), places,
                                                 out.positions.data(), edges, 0, end, stream));
    DeviceBuffer<unsigned char> temporary(bytes);
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(temporary.data(), bytes, unsorted, out.keys.data(), places,
                                                 out.positions.data(), edges, 0, end, stream));
    out.ascending = value_of(descends.data(), stream) == 0;
    return out;
}

/// Cuts the edges outside of blocks; `rest` are the exclusive sums of their flags.
void write_rest_edges(const CsrFormat& csr, const Ids& rest, Storage& s, DenseBlocksFormat& out, cudaStream_t stream) {
    const unsigned rows = kernels::blocks_for(std::int64_t{csr.n_rows} + 1, kBlockThreads);
    out.n_rest = value_of(rest.data() + csr.m, stream);
    s.rest_col = Ids(static_cast<std::size_t>(out.n_rest));
    s.rest_id = Ids(static_cast<std::size_t>(out.n_rest));
    if (out.n_rest > 0) {
        write_rest<<<kernels::blocks_for(csr.m, kBlockThreads), kBlockThreads, 0, stream>>>(
            rest.data(), csr.col_idx, csr.edge_id, csr.m, s.rest_col.data(), s.rest_id.data());
        GNNTUNE_CUDA(cudaGetLastError());
    }
    count_rest_pieces<<<rows, kBlockThreads, 0, stream>>>(rest.data(), csr.row_ptr, csr.n_rows, s.rest_ptr.data());
    GNNTUNE_CUDA(cudaGetLastError());
    exclusive_sums(s.rest_ptr, std::int64_t{csr.n_rows} + 1, stream);
    out.n_rest_pieces = value_of(s.rest_ptr.data() + csr.n_rows, stream);
    s.rest_begin = Ids(static_cast<std::size_t>(out.n_rest_pieces) + 1);
    write_rest_pieces<<<rows, kBlockThreads, 0, stream>>>(rest.data(), csr.row_ptr, s.rest_ptr.data(), csr.n_rows,
                                                          s.rest_begin.data());
    GNNTUNE_CUDA(cudaGetLastError());
}

void build_arrays(const CsrFormat& csr, Storage& s, DenseBlocksFormat& out, StreamHandle handle) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const auto m = static_cast<std::size_t>(csr.m);
    const auto edges = static_cast<std::int32_t>(csr.m);
    const unsigned all = kernels::blocks_for(csr.m, kBlockThreads);
    const Sorted sorted = sort_edges(csr, out.n_block_rows, handle);
    Ids cells(m);
    Ids blocks(m);
    flag_cells<<<all, kBlockThreads, 0, stream>>>(sorted.keys.data(), csr.m, cells.data(), blocks.data());
    GNNTUNE_CUDA(cudaGetLastError());
    inclusive_sums(cells, edges, stream);
    inclusive_sums(blocks, edges, stream);

    const std::int32_t candidates = value_of(blocks.data() + (m - 1), stream);
    const unsigned all_candidates = kernels::blocks_for(std::int64_t{candidates} + 1, kBlockThreads);
    Ids begin(static_cast<std::size_t>(candidates) + 1);
    Ids kept(static_cast<std::size_t>(candidates) + 1);
    find_candidates<<<all, kBlockThreads, 0, stream>>>(blocks.data(), csr.m, begin.data());
    GNNTUNE_CUDA(cudaGetLastError());
    keep_candidates<<<all_candidates, kBlockThreads, 0, stream>>>(cells.data(), begin.data(), candidates, out.min_cells,
                                                                  kept.data());
    GNNTUNE_CUDA(cudaGetLastError());
    exclusive_sums(kept, std::int64_t{candidates} + 1, stream);
    out.n_blocks = value_of(kept.data() + candidates, stream);

    const auto n_blocks = static_cast<std::size_t>(out.n_blocks);
    Ids block_row(n_blocks);
    s.block_col = Ids(n_blocks);
    s.block_rows = DeviceBuffer<DenseBlockRow>(n_blocks * kDenseBlockSize);
    write_blocks<<<all_candidates, kBlockThreads, 0, stream>>>(sorted.keys.data(), begin.data(), kept.data(),
                                                               candidates, sorted.col_bits, block_row.data(),
                                                               s.block_col.data());
    GNNTUNE_CUDA(cudaGetLastError());
    find_block_rows<<<kernels::blocks_for(std::int64_t{out.n_block_rows} + 1, kBlockThreads), kBlockThreads, 0,
                      stream>>>(block_row.data(), out.n_blocks, out.n_block_rows, s.block_ptr.data());
    GNNTUNE_CUDA(cudaGetLastError());

    Ids in_block(m + 1);
    Ids rest(m + 1);
    part_edges<<<kernels::blocks_for(csr.m + 1, kBlockThreads), kBlockThreads, 0, stream>>>(
        cells.data(), blocks.data(), kept.data(), sorted.positions.data(), csr.m, in_block.data(), rest.data());
    GNNTUNE_CUDA(cudaGetLastError());
    exclusive_sums(in_block, csr.m + 1, stream);
    exclusive_sums(rest, csr.m + 1, stream);
    if (n_blocks > 0) {
        if (!sorted.ascending) {
            s.edge_id = Ids(static_cast<std::size_t>(value_of(in_block.data() + csr.m, stream)));
        }
        GNNTUNE_CUDA(cudaMemsetAsync(s.block_rows.data(), 0, s.block_rows.bytes(), stream));
        write_block_cells<<<all, kBlockThreads, 0, stream>>>(sorted.keys.data(), blocks.data(), kept.data(),
                                                             sorted.positions.data(), in_block.data(), csr.m,
                                                             csr.edge_id, s.edge_id.data(), s.block_rows.data());
        GNNTUNE_CUDA(cudaGetLastError());
    }
    write_rest_edges(csr, rest, s, out, stream);
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));  // before the temporaries are freed
    out.edge_id = sorted.ascending ? csr.edge_id : s.edge_id.data();
}

template <int MIN_CELLS>
std::shared_ptr<const void> build(Graph& graph, Direction direction, StreamHandle handle, std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(handle);
    auto s = std::make_shared<Storage>();
    s->csr = graph.format_as<CsrFormat>(kFormatCsr, direction, handle);
    const CsrFormat& csr = *s->csr;
    DenseBlocksFormat out;
    out.n_rows = csr.n_rows;
    out.n_cols = csr.n_cols;
    out.m = csr.m;
    out.min_cells = MIN_CELLS;
    out.n_block_rows = static_cast<std::int32_t>((std::int64_t{csr.n_rows} + kDenseBlockSize - 1) / kDenseBlockSize);
    s->block_ptr = Ids(static_cast<std::size_t>(out.n_block_rows) + 1);
    s->rest_ptr = Ids(static_cast<std::size_t>(csr.n_rows) + 1);
    if (csr.m > 0) {
        build_arrays(csr, *s, out, handle);
    } else {
        s->rest_begin = Ids(1);
        for (Ids* zeros : {&s->block_ptr, &s->rest_ptr, &s->rest_begin}) {
            GNNTUNE_CUDA(cudaMemsetAsync(zeros->data(), 0, zeros->bytes(), stream));
        }
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    out.block_ptr = s->block_ptr.data();
    out.block_col = s->block_col.data();
    out.block_rows = s->block_rows.data();
    out.rest_ptr = s->rest_ptr.data();
    out.rest_begin = s->rest_begin.data();
    out.rest_col = s->rest_col.data();
    out.rest_id = s->rest_id.data();
    *bytes = s->bytes();
    out.storage = std::move(s);
    return std::make_shared<DenseBlocksFormat>(std::move(out));
}

}  // namespace
}  // namespace formats

void register_format_dense_blocks(Registry& registry) {
    using namespace formats;  // NOLINT: names of this folder
    registry.add(FormatBuilder{kFormatDenseBlocks8, Backend::cuda, &build<8>, kFormatCsr});
    registry.add(FormatBuilder{kFormatDenseBlocks32, Backend::cuda, &build<32>, kFormatCsr});
    registry.add(FormatBuilder{kFormatDenseBlocks128, Backend::cuda, &build<128>, kFormatCsr});
}

}  // namespace gnntune
