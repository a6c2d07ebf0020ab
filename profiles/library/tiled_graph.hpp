// A graph as row tiles on one backend: what gnntune_tiled_graph_create makes. Offsets of all tiles lie in backend memory.
// Ids do too where the graph is resident; of a streamed one they stay with the caller, and two buffers hold those of two
// tiles at a time: tile t is read from buffer t modulo 2, by every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/common/memory_source.hpp"
#include "core/registry/graph.hpp"
#include "profiles/library/context.hpp"
#include "profiles/library/plan_memo.hpp"
#include "profiles/library/tile_feed.hpp"
#include "profiles/library/tile_layout.hpp"

namespace gnntune::library {

/// Elements in backend memory, from the source of the thread that makes them.
template <typename T>
class BackendArray {
public:
    BackendArray() = default;
    BackendArray(const Device& device, std::size_t size);
    T* data() const { return data_; }

private:
    T* data_ = nullptr;
    std::shared_ptr<void> memory_;
};

class TiledGraph {
public:
    struct Tile {
        RowTile rows;
        int slot = 0;  ///< whose buffer its ids are read from, where they are streamed
        std::unique_ptr<Graph> graph;
        PlanMemo memo;
    };

    /// Borrows row_ptr and col_idx. Throws as validate_ids (unless trusted) and require_within_limits.
    TiledGraph(std::shared_ptr<const Context> context, TileLayout layout, bool trusted, StreamHandle stream);

    const Context& context() const { return *context_; }
    const TileLayout& layout() const { return layout_; }
    std::vector<Tile>& tiles() { return tiles_; }
    const std::vector<Tile>& tiles() const { return tiles_; }
    TileFeed& feed() { return feed_; }
    /// Held by whoever uses the feed and the buffers.
    std::mutex& turn() { return turn_; }
    /// Of offsets, ids, formats and plans. Never null.
    const std::shared_ptr<CountingMemory>& memory() const { return memory_; }
    /// Whether the device reads the caller's ids by itself.
    bool ids_page_locked() const { return ids_page_locked_; }

    /// Computed at first use, on the host.
    Fingerprint fingerprint();
    /// If it was.
    std::optional<Fingerprint> known_fingerprint();

    /// Fills the tile's buffer, where it has one; what `stream` does next finds it there. For who has the turn.
    void bring(const Tile& tile, StreamHandle stream, bool follows);

    /// Counts what a plan takes. Throws as require_within_limits.
    void claim(const TileMemory& plan);
    void release(const TileMemory& plan);

private:
    void make_tiles(StreamHandle stream);

    std::shared_ptr<const Context> context_;
    TileLayout layout_;
    std::shared_ptr<CountingMemory> memory_;
    std::optional<PinnedRange> pinned_;
    bool ids_page_locked_ = false;
    TileFeed feed_;
    std::mutex turn_;
    BackendArray<std::int32_t> offsets_;
    BackendArray<std::int32_t> ids_;  ///< of all tiles, or the two buffers; none where they are borrowed
    std::vector<Tile> tiles_;
    std::mutex facts_;
    TileMemory claimed_;
    std::optional<Fingerprint> fingerprint_;
};

}  // namespace gnntune::library
