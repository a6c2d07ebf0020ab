#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/formats/sgt/translate.hpp"

namespace gnntune {
namespace {

struct SgtBuffers {
    DeviceBuffer<std::int32_t> window_ptr;
    DeviceBuffer<std::int32_t> block_ptr;
    DeviceBuffer<std::int32_t> block_cols;
    DeviceBuffer<std::uint8_t> tile_position;
    DeviceBuffer<std::int32_t> edge_id;
};

std::shared_ptr<const void> build_sgt_on_gpu(Graph& graph, Direction direction, StreamHandle stream_handle,
                                             std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const formats::SgtShape shape;
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, direction, stream_handle);
    const auto m = static_cast<std::size_t>(csr->m);
    const std::int32_t windows = formats::sgt_windows(csr->n_rows, shape);
    const formats::SgtScratch places = formats::sgt_scratch_cuda(csr->n_rows, csr->n_cols, csr->m, shape);
    DeviceBuffer<unsigned char> scratch(places.total);
    auto s = std::make_shared<SgtBuffers>();
    s->window_ptr = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(windows) + 1);
    const formats::SgtSorted sorted =
        formats::sgt_count_cuda(*csr, shape, s->window_ptr.data(), places, scratch.data(), stream_handle);
    // The sort runs while memory for the edges is allocated.
    s->tile_position = DeviceBuffer<std::uint8_t>(m);
    s->edge_id = DeviceBuffer<std::int32_t>(m);
    const std::int32_t blocks = value_of(s->window_ptr.data() + windows, stream);
    s->block_ptr = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(blocks) + 1);
    s->block_cols =
        DeviceBuffer<std::int32_t>(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(shape.block_width));
    formats::sgt_fill_cuda(
        *csr, shape,
        {s->window_ptr.data(), s->block_ptr.data(), s->block_cols.data(), s->tile_position.data(), s->edge_id.data()},
        sorted, stream_handle);
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    *bytes = s->window_ptr.bytes() + s->block_ptr.bytes() + s->block_cols.bytes() + s->tile_position.bytes() +
             s->edge_id.bytes();
    return std::make_shared<SgtFormat>(SgtFormat{
        csr->n_rows, csr->n_cols, csr->m, shape.block_height, shape.block_width, windows, blocks, s->window_ptr.data(),
        s->block_ptr.data(), s->block_cols.data(), s->tile_position.data(), s->edge_id.data(), s});
}

}  // namespace

void register_format_sgt_cuda(Registry& registry) {
    registry.add(FormatBuilder{kFormatSgt, Backend::cuda, &build_sgt_on_gpu, kFormatCsr});
}

}  // namespace gnntune
