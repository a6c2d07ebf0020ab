// CSR on the GPU, by the kernels of the conversions (convert.hpp).
//   A list that is sorted by row already keeps its order, its columns and its names.
//   The reversed graph of a caller's CSR is grouped by column directly, its rows written out for the time of the
//   conversion only. (Of a caller's list it is another list's CSR: there the order inside a row is the list's.)
#include "core/gpu/device_buffer.hpp"
#include "core/graph/graph.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune {
namespace {

using Ids = DeviceBuffer<std::int32_t>;

struct Storage {
    Ids row_ptr;
    Ids col_idx;
    Ids edge_id;
    std::shared_ptr<const void> coo;  // where its arrays are shared
};

std::shared_ptr<const CsrFormat> finished(const CooFormat& list, std::shared_ptr<Storage> storage,
                                          const std::int32_t* col_idx, const std::int32_t* edge_id,
                                          StreamHandle stream, std::size_t* bytes) {
    GNNTUNE_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
    *bytes = storage->row_ptr.bytes() + storage->col_idx.bytes() + storage->edge_id.bytes();
    const std::int32_t* row_ptr = storage->row_ptr.data();
    return std::make_shared<CsrFormat>(
        CsrFormat{list.n_rows, list.n_cols, list.m, row_ptr, col_idx, edge_id, std::move(storage)});
}

std::shared_ptr<const CsrFormat> group(const CooFormat& list, StreamHandle stream, std::size_t* bytes) {
    auto storage = std::make_shared<Storage>();
    storage->row_ptr = Ids(static_cast<std::size_t>(list.n_rows) + 1);
    storage->col_idx = Ids(static_cast<std::size_t>(list.m));
    storage->edge_id = Ids(static_cast<std::size_t>(list.m));
    DeviceBuffer<unsigned char> workspace(formats::group_by_row_bytes(list));
    formats::group_by_row(list, {storage->row_ptr.data(), storage->col_idx.data(), storage->edge_id.data()},
                          workspace.data(), workspace.size(), stream);
    const std::int32_t* col_idx = storage->col_idx.data();
    const std::int32_t* edge_id = storage->edge_id.data();
    return finished(list, std::move(storage), col_idx, edge_id, stream, bytes);
}

std::shared_ptr<const void> build(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes) {
    if (direction == Direction::reversed && graph.base_format() == kFormatCsr) {
        const auto forward = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, stream);
        Ids rows(static_cast<std::size_t>(forward->m));
        formats::expand_rows(*forward, rows.data(), stream);
        return group({forward->n_cols, forward->n_rows, forward->m, forward->col_idx, rows.data(), forward->edge_id,
                      nullptr},
                     stream, bytes);
    }
    const auto coo = graph.format_as<CooFormat>(kFormatCoo, direction, stream);
    if (!formats::is_sorted(*coo, stream)) return group(*coo, stream, bytes);
    auto storage = std::make_shared<Storage>();
    storage->row_ptr = Ids(static_cast<std::size_t>(coo->n_rows) + 1);
    storage->coo = coo;
    formats::copy_sorted(*coo, {storage->row_ptr.data(), nullptr, nullptr}, stream);
    return finished(*coo, std::move(storage), coo->col_idx, coo->edge_id, stream, bytes);
}

}  // namespace

void register_format_csr_cuda(Registry& registry) { registry.add(FormatBuilder{kFormatCsr, Backend::cuda, &build}); }

}  // namespace gnntune
