// From the CSC: thread -> an edge of it, whose place it writes where the caller has the edge.
#include "kernels/common/host.hpp"
#include "kernels/formats/column_graph/column_graph.hpp"

namespace gnntune {
namespace formats {
namespace {

constexpr int kPlaceThreads = 256;

__global__ void places_kernel(const std::int32_t* __restrict__ edge_id, std::int64_t m,
                              std::int32_t* __restrict__ place) {
    const std::int64_t at = std::int64_t{blockIdx.x} * kPlaceThreads + threadIdx.x;
    if (at < m) place[edge_id[at]] = static_cast<std::int32_t>(at);
}

std::shared_ptr<const void> build_column_graph(Graph& graph, Direction direction, StreamHandle handle,
                                               std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(handle);
    auto out = std::make_shared<ColumnGraph>();
    out->csc = graph.format_as<CsrFormat>(kFormatCsc, direction, handle);
    const CsrFormat& csc = *out->csc;
    if (csc.edge_id && csc.m > 0) {
        out->place = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(csc.m));
        places_kernel<<<kernels::blocks_for(csc.m, kPlaceThreads), kPlaceThreads, 0, stream>>>(csc.edge_id, csc.m,
                                                                                               out->place.data());
        GNNTUNE_CUDA(cudaGetLastError());
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    out->graph = std::make_unique<Graph>(
        graph.registry(), graph.device(),
        CsrView{csc.n_rows, csc.n_cols, csc.m, csc.row_ptr, csc.col_idx, nullptr, MemorySpace::device}, out->csc);
    out->graph->set_format_memory(current_memory(MemoryKind::device));  // its formats are this one's
    *bytes = out->place.bytes();
    return out;
}

}  // namespace
}  // namespace formats

void register_format_column_graph(Registry& registry) {
    registry.add(FormatBuilder{formats::kFormatColumnGraph, Backend::cuda, &formats::build_column_graph, kFormatCsc});
}

}  // namespace gnntune
