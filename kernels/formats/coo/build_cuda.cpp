#include "core/gpu/device_buffer.hpp"
#include "kernels/formats/coo/derive.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune {
namespace {

std::shared_ptr<const void> expand_on_device(const Graph& graph, const CsrFormat& csr, StreamHandle stream_handle,
                                             const std::int32_t** rows, std::size_t* bytes) {
    auto storage = std::make_shared<DeviceBuffer<std::int32_t>>(static_cast<std::size_t>(csr.m));
    formats::expand_rows(csr, storage->data(), stream_handle);
    if (!graph.in_stream_order()) GNNTUNE_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_handle)));
    *rows = storage->data();
    *bytes = storage->bytes();
    return storage;
}

std::shared_ptr<const void> build_coo_on_gpu(Graph& g, Direction d, StreamHandle s, std::size_t* bytes) {
    return formats::build_coo(g, d, s, bytes, &expand_on_device);
}
std::shared_ptr<const void> build_sorted_coo_on_gpu(Graph& g, Direction d, StreamHandle s, std::size_t* bytes) {
    return formats::build_coo_sorted(g, d, s, bytes, &expand_on_device);
}

}  // namespace

void register_format_coo_cuda(Registry& registry) {
    registry.add(FormatBuilder{kFormatCoo, Backend::cuda, &build_coo_on_gpu});
    registry.add(FormatBuilder{kFormatCooSorted, Backend::cuda, &build_sorted_coo_on_gpu, kFormatCsr});
}

}  // namespace gnntune
