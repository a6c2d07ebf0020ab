#include "profiles/library/tiled_graph.hpp"

#include <utility>

#include "core/common/error.hpp"
#include "core/common/host_vector.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/memory.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::library {
namespace {

/// Where tiles begin in an array that holds several: at multiples of 256 bytes, as cudaMalloc would give them.
constexpr std::size_t kAlignedIds = 64;

std::size_t padded_ids(std::int64_t ids) {
    return (static_cast<std::size_t>(ids) + kAlignedIds - 1) / kAlignedIds * kAlignedIds;
}

}  // namespace

template <typename T>
BackendArray<T>::BackendArray([[maybe_unused]] const Device& device, std::size_t size) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) {
        auto buffer = std::make_shared<DeviceBuffer<T>>(size);
        data_ = buffer->data();
        memory_ = std::move(buffer);
        return;
    }
#endif
    auto buffer = std::make_shared<HostVector<T>>(size);
    data_ = buffer->data();
    memory_ = std::move(buffer);
}

template class BackendArray<std::int32_t>;
template class BackendArray<std::byte>;

TiledGraph::TiledGraph(std::shared_ptr<const Context> context, TileLayout layout, bool trusted, StreamHandle stream)
    : context_(std::move(context)), layout_(std::move(layout)), feed_(context_->device) {
    const TileMemory needed = memory_of(*context_, layout_);
    require_within_limits(*context_, layout_, needed);
    claimed_ = needed;
    if (!trusted) validate_ids(layout_.graph);
    memory_ = std::make_shared<CountingMemory>(context_->memory, layout_.arrays_bytes + layout_.formats_bytes,
                                               "a tiled graph");
    const WideCsrView& graph = layout_.graph;
    const auto id_bytes = static_cast<std::uint64_t>(graph.m) * (graph.wide_ids ? 8 : 4);
    if (layout_.pin && graph.m > 0) pinned_.emplace(graph.col_idx, id_bytes);
    ids_page_locked_ = !graph.wide_ids && is_page_locked(context_->device, graph.col_idx, id_bytes);
    const MemoryScope scope(memory_kind(context_->device), memory_);
    make_tiles(stream);
}

void TiledGraph::make_tiles(StreamHandle stream) {
    const Device& device = context_->device;
    const bool cuda = device.backend == Backend::cuda;
    const WideCsrView& graph = layout_.graph;
    const bool borrowed = !layout_.streamed && !cuda && !graph.wide_ids;
    std::size_t offsets = 0;
    std::size_t ids = layout_.streamed ? kTileSlots * padded_ids(layout_.largest) : 0;
    for (const RowTile& tile : layout_.tiles) {
        offsets += padded_ids(std::int64_t{tile.n_rows} + 1);
        if (!layout_.streamed && !borrowed) ids += padded_ids(tile.m);
    }
    offsets_ = BackendArray<std::int32_t>(device, offsets);
    ids_ = BackendArray<std::int32_t>(device, ids);
    // Copies run on another stream, and what an allocator hands out may still be in use on the caller's.
    wait_for(device, stream, "creating a graph");
    tiles_ = std::vector<Tile>(layout_.tiles.size());

    std::int32_t* next_offset = offsets_.data();
    std::int32_t* next_id = ids_.data();
    HostVector<std::int32_t> staging;
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        Tile& tile = tiles_[t];
        tile.rows = layout_.tiles[t];
        tile.slot = static_cast<int>(t % kTileSlots);
        CsrView view{tile.rows.n_rows, graph.n_cols, tile.rows.m};
        view.space = cuda ? MemorySpace::device : MemorySpace::host;
        view.row_ptr = next_offset;
        if (cuda) {
            staging.resize(static_cast<std::size_t>(tile.rows.n_rows) + 1);
            copy_offsets(graph, tile.rows, staging.data());
            feed_.copy(staging.data(), staging.size() * sizeof(std::int32_t), next_offset, false);
        } else {
            copy_offsets(graph, tile.rows, next_offset);
        }
        next_offset += padded_ids(std::int64_t{tile.rows.n_rows} + 1);
        if (layout_.streamed) {
            view.col_idx = ids_.data() + (tile.slot == 0 ? 0 : padded_ids(layout_.largest));
        } else if (borrowed) {
            view.col_idx = static_cast<const std::int32_t*>(graph.col_idx) + tile.rows.first_edge;
        } else {
            view.col_idx = next_id;
            feed_.copy_ids(graph, tile.rows.first_edge, tile.rows.m, next_id, ids_page_locked_);
            next_id += padded_ids(tile.rows.m);
        }
        tile.graph = std::make_unique<Graph>(context_->registry, device, view);
        tile.graph->set_format_memory(memory_);
    }
    feed_.wait();
}

Fingerprint TiledGraph::fingerprint() {
    const std::lock_guard lock(facts_);
    if (!fingerprint_) fingerprint_ = gnntune::fingerprint(layout_.graph);
    return *fingerprint_;
}

std::optional<Fingerprint> TiledGraph::known_fingerprint() {
    const std::lock_guard lock(facts_);
    return fingerprint_;
}

void TiledGraph::bring(const Tile& tile, StreamHandle stream, bool follows) {
    if (!layout_.streamed) return;
    feed_.begin(tile.slot, stream, follows);
    std::int32_t* to = ids_.data() + (tile.slot == 0 ? 0 : padded_ids(layout_.largest));
    feed_.copy_ids(layout_.graph, tile.rows.first_edge, tile.rows.m, to, ids_page_locked_);
}

void TiledGraph::claim(const TileMemory& plan) {
    const std::lock_guard lock(facts_);
    const TileMemory sum{claimed_.host_bytes + plan.host_bytes, claimed_.backend_bytes + plan.backend_bytes};
    require_within_limits(*context_, layout_, sum);
    claimed_ = sum;
}

void TiledGraph::release(const TileMemory& plan) {
    const std::lock_guard lock(facts_);
    claimed_.host_bytes -= plan.host_bytes;
    claimed_.backend_bytes -= plan.backend_bytes;
}

}  // namespace gnntune::library
