// CSR on the GPU, by the kernels of the conversions: runs.hpp where they hold the graph, else convert.hpp.
//   A list that is sorted by row already keeps its order, its columns and its names.
//   The reversed graph of a caller's CSR is grouped by column directly. (Of a caller's list it is another list's CSR:
//   there the order inside a row is the list's.)
#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/formats/csr/convert.hpp"
#include "kernels/formats/csr/runs.hpp"

namespace gnntune {
namespace {

using Ids = DeviceBuffer<std::int32_t>;

/// How a format is to be built.
struct Build {
    const Device& device;
    StreamHandle stream;
    bool in_stream_order;
    std::size_t* bytes;
};

struct CsrBuffers {
    Ids row_ptr;  // with the others behind it where they have no memory of their own
    Ids col_idx;
    Ids edge_id;
    formats::GroupedEdges arrays;
    std::shared_ptr<const void> coo;  // where its arrays are shared
};

std::shared_ptr<const CsrFormat> finished(std::int32_t n_rows, std::int32_t n_cols, std::int64_t m,
                                          std::shared_ptr<CsrBuffers> storage, const std::int32_t* col_idx,
                                          const std::int32_t* edge_id, const Build& build) {
    if (!build.in_stream_order) GNNTUNE_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(build.stream)));
    *build.bytes = storage->row_ptr.bytes() + storage->col_idx.bytes() + storage->edge_id.bytes();
    const std::int32_t* row_ptr = storage->row_ptr.data();
    return std::make_shared<CsrFormat>(CsrFormat{n_rows, n_cols, m, row_ptr, col_idx, edge_id, std::move(storage)});
}

/// As many ids as begin and end at a multiple of 256 bytes, as memory of its own does.
std::size_t padded(std::size_t ids) {
    constexpr std::size_t step = 256 / sizeof(std::int32_t);
    return (ids + step - 1) / step * step;
}

std::shared_ptr<CsrBuffers> storage_for(std::int32_t n_rows, std::int64_t m, const Build& build) {
    auto storage = std::make_shared<CsrBuffers>();
    const std::size_t rows = static_cast<std::size_t>(n_rows) + 1;
    const auto edges = static_cast<std::size_t>(m);
    if (build.in_stream_order) {
        // A graph that lives for a step: the application's allocator costs it as much as a launch each time.
        storage->row_ptr = Ids(padded(rows) + padded(edges) + edges);
        std::int32_t* col_idx = storage->row_ptr.data() + padded(rows);
        storage->arrays = {storage->row_ptr.data(), col_idx, col_idx + padded(edges)};
        return storage;
    }
    storage->row_ptr = Ids(rows);
    storage->col_idx = Ids(edges);
    storage->edge_id = Ids(edges);
    storage->arrays = {storage->row_ptr.data(), storage->col_idx.data(), storage->edge_id.data()};
    return storage;
}

/// How edges of `From` are grouped: by runs, and where those do not hold the graph by a radix sort.
template <typename From>
struct Grouping {
    std::size_t (*run_bytes)(const From&, const formats::RunParams&);
    void (*run)(const From&, const formats::GroupedEdges&, void*, const formats::RunParams&, bool, StreamHandle);
    std::size_t (*sort_bytes)(const From&);
    void (*sort)(const From&, const formats::GroupedEdges&, void*, std::size_t, StreamHandle);
};
constexpr Grouping<CooFormat> kByRow{&formats::run_by_row_bytes, &formats::run_by_row, &formats::group_by_row_bytes,
                                     &formats::group_by_row};
constexpr Grouping<CsrFormat> kByColumn{&formats::run_by_column_bytes, &formats::run_by_column,
                                        &formats::group_by_column_bytes, &formats::group_by_column};

/// The CSR of n_rows rows that `by` makes of `from`.
template <typename From>
std::shared_ptr<const CsrFormat> group(const From& from, std::int32_t n_rows, std::int32_t n_cols,
                                       const Grouping<From>& by, const Build& build) {
    auto storage = storage_for(n_rows, from.m, build);
    const formats::RunParams params = formats::RunParams::of_edges(&build.device, from.m, n_rows);
    const bool runs = formats::require_runs(&build.device, from.m, n_rows, n_cols).ok;
    DeviceBuffer<unsigned char> workspace(runs ? by.run_bytes(from, params) : by.sort_bytes(from));
    if (runs) {
        const bool chained = formats::runs_chained(build.device);
        by.run(from, storage->arrays, workspace.data(), params, chained, build.stream);
    } else {
        by.sort(from, storage->arrays, workspace.data(), workspace.size(), build.stream);
    }
    const std::int32_t* col_idx = storage->arrays.idx;
    const std::int32_t* edge_id = storage->arrays.edge_id;
    return finished(n_rows, n_cols, from.m, std::move(storage), col_idx, edge_id, build);
}

std::shared_ptr<const void> build_csr_on_gpu(Graph& graph, Direction direction, StreamHandle stream,
                                             std::size_t* bytes) {
    const Build build{graph.device(), stream, graph.in_stream_order(), bytes};
    if (direction == Direction::reversed && graph.base_format() == kFormatCsr) {
        const auto csr = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, stream);
        return group(*csr, csr->n_cols, csr->n_rows, kByColumn, build);
    }
    const auto coo = graph.format_as<CooFormat>(kFormatCoo, direction, stream);
    // To ask whether a list is sorted is to wait for the answer.
    if (build.in_stream_order || !formats::is_sorted(*coo, stream)) {
        return group(*coo, coo->n_rows, coo->n_cols, kByRow, build);
    }
    auto storage = std::make_shared<CsrBuffers>();
    storage->row_ptr = Ids(static_cast<std::size_t>(coo->n_rows) + 1);
    storage->coo = coo;
    formats::copy_sorted(*coo, {storage->row_ptr.data(), nullptr, nullptr}, stream);
    return finished(coo->n_rows, coo->n_cols, coo->m, std::move(storage), coo->col_idx, coo->edge_id, build);
}

}  // namespace

void register_format_csr_cuda(Registry& registry) {
    registry.add(FormatBuilder{kFormatCsr, Backend::cuda, &build_csr_on_gpu});
}

}  // namespace gnntune
