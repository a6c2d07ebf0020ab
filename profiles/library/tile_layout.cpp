#include "profiles/library/tile_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "core/graph/convert.hpp"
#include "profiles/library/abi.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/request.hpp"
#if GNNTUNE_WITH_CUDA
#include "profiles/library/device_arrays.hpp"
#endif

namespace gnntune::library {
namespace {

// What is left to see of a stream is the first tile's way in and the last one's kernel: small tiles hide more. Of this
// many edges a tile is long enough for the link and for a kernel to run at their rates.
constexpr std::int64_t kStreamedEdges = std::int64_t{1} << 25;
// Of a resident one: beyond this a larger tile gains nothing, and buffers grow with it.
constexpr std::int64_t kResidentEdges = std::int64_t{1} << 28;

std::uint64_t bytes_of(std::int64_t count, std::int64_t each) {
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(each);
}

/// Rounded up to where the next array may begin.
std::uint64_t padded_bytes(std::uint64_t size) {
    return (size + 255) / 256 * 256;
}

bool is_cuda(const Context& context) {
    return context.device.backend == Backend::cuda;
}

void require_aligned(const char* name, const void* data, bool wide) {
    const std::uintptr_t width = wide ? 8 : 4;
    if (reinterpret_cast<std::uintptr_t>(data) % width != 0) {
        throw invalid_argument(fmt::format("{} is not aligned to its elements of {} bytes", name, width));
    }
}

WideCsrView view_of(const gnntune_csr& csr) {
    if (csr.n_rows < 0 || csr.n_cols < 0 || csr.m < 0) {
        throw invalid_argument(
            fmt::format("n_rows={}, n_cols={}, m={}: expected sizes of zero or more", csr.n_rows, csr.n_cols, csr.m));
    }
    require_int32(csr.n_rows, csr.n_cols, 0);
    if (csr.memory != GNNTUNE_HOST) {
        throw invalid_argument(
            fmt::format("memory is {}; a tiled graph is described by arrays in host memory, GNNTUNE_HOST", csr.memory));
    }
    if (csr.transient != 0) throw invalid_argument("a tiled graph is never transient; set transient to 0");
    WideCsrView view;
    view.n_rows = static_cast<std::int32_t>(csr.n_rows);
    view.n_cols = static_cast<std::int32_t>(csr.n_cols);
    view.m = csr.m;
    view.row_ptr = csr.row_ptr;
    view.wide_offsets = is_wide("offset_type", csr.offset_type);
    view.col_idx = csr.col_idx;
    view.wide_ids = is_wide("id_type", csr.id_type);
    require(csr.row_ptr, "row_ptr");
    if (csr.m > 0) require(csr.col_idx, "col_idx");
    require_aligned("row_ptr", csr.row_ptr, view.wide_offsets);
    require_aligned("col_idx", csr.col_idx, view.wide_ids);
    validate_offsets(view);
    return view;
}

std::int64_t largest_of(const std::vector<RowTile>& tiles) {
    std::int64_t largest = 0;
    for (const RowTile& tile : tiles) largest = std::max(largest, tile.m);
    return largest;
}

/// Cuts, and counts what the arrays and the formats of the tiles take.
void cut_tiles(const Context& context, TileLayout& layout, std::int64_t most_edges) {
    const WideCsrView& graph = layout.graph;
    layout.tiles = cut_rows(graph, most_edges);
    layout.largest = largest_of(layout.tiles);
    const auto count = static_cast<std::int64_t>(layout.tiles.size());
    const std::uint64_t slack = 512 * static_cast<std::uint64_t>(count);
    layout.arrays_bytes = bytes_of(graph.n_rows + count, 4) + slack;
    if (layout.streamed) {
        layout.arrays_bytes += kTileSlots * padded_bytes(bytes_of(layout.largest, 4));
    } else if (is_cuda(context) || graph.wide_ids) {
        layout.arrays_bytes += bytes_of(graph.m, 4) + slack;
    }
    // Rows in an order of their own, and what sorting them takes; counters of columns and sort keys of a tile's edges, for
    // the features; and, where the edges stay, one format that has a few bytes for each.
    const std::int64_t counted = std::min(layout.largest, std::int64_t{1} << 28);
    layout.formats_bytes =
        bytes_of(graph.n_rows, 32) + bytes_of(graph.n_cols, 8) + bytes_of(counted, 24) + (std::uint64_t{64} << 20);
    if (!layout.streamed) layout.formats_bytes += bytes_of(graph.m, 8);
    layout.tables_bytes = (std::uint64_t{1} << 20) + 8192 * static_cast<std::uint64_t>(count);
    layout.staging_bytes = 0;
    if (is_cuda(context)) {
        std::int64_t rows = 0;
        for (const RowTile& tile : layout.tiles) rows = std::max<std::int64_t>(rows, tile.n_rows);
        // Offsets of a tile on their way; degrees of columns, while features are counted.
        layout.staging_bytes = kTileSlots * kStagingBytes + bytes_of(rows + 1, 8) + bytes_of(graph.n_cols, 4);
    }
}

/// Whether the whole graph may stay in memory of the device.
bool fits_resident([[maybe_unused]] const Context& context, const TileLayout& layout) {
    if (layout.backend_limit_bytes < layout.arrays_bytes + layout.formats_bytes) return false;
#if GNNTUNE_WITH_CUDA
    if (is_cuda(context)) {
        // The caller still wants room for features and results.
        const DeviceGuard guard(context.device);
        std::size_t free = 0;
        std::size_t total = 0;
        GNNTUNE_CUDA(cudaMemGetInfo(&free, &total));
        return layout.arrays_bytes <= free / 2;
    }
#endif
    return true;
}

std::string in_gib(std::uint64_t size) {
    return fmt::format("{} bytes ({:.2f} GiB)", size, static_cast<double>(size) / (1 << 30));
}

}  // namespace

std::int64_t TileLayout::longest_row() const {
    std::int64_t longest = 0;
    for (const RowTile& tile : tiles) longest = std::max<std::int64_t>(longest, tile.longest_row);
    return longest;
}

TileLayout lay_out(const Context& context, const gnntune_csr& csr, const gnntune_tiling& tiling) {
    if (tiling.place < GNNTUNE_TILES_AUTO || tiling.place > GNNTUNE_TILES_STREAMED) {
        throw invalid_argument(fmt::format(
            "tiling.place is {}; expected GNNTUNE_TILES_AUTO, GNNTUNE_TILES_RESIDENT or GNNTUNE_TILES_STREAMED",
            tiling.place));
    }
    if (tiling.tile_edges < 0 || tiling.tile_edges > kMaxEdges) {
        throw invalid_argument(
            fmt::format("tiling.tile_edges is {}; expected 1 to 2^31-1, or 0 to have it chosen", tiling.tile_edges));
    }
    TileLayout layout;
    layout.graph = view_of(csr);
    layout.pin = tiling.pin != 0 && is_cuda(context) && !layout.graph.wide_ids;
    layout.host_limit_bytes = tiling.host_limit_bytes;
    layout.backend_limit_bytes = tiling.backend_limit_bytes;
    layout.streamed = tiling.place == GNNTUNE_TILES_STREAMED;
    const auto edges = [&] {
        if (tiling.tile_edges > 0) return tiling.tile_edges;
        return layout.streamed ? kStreamedEdges : kResidentEdges;
    };
    cut_tiles(context, layout, edges());
    if (tiling.place == GNNTUNE_TILES_AUTO && !fits_resident(context, layout)) {
        layout.streamed = true;
        cut_tiles(context, layout, edges());
    }
    return layout;
}

TileMemory memory_of(const Context& context, const TileLayout& layout) {
    const std::uint64_t backend = layout.arrays_bytes + layout.formats_bytes;
    const std::uint64_t host = layout.staging_bytes + layout.tables_bytes;
    return is_cuda(context) ? TileMemory{host, backend} : TileMemory{host + backend, 0};
}

TileMemory memory_of(const Context& context, const TileLayout& layout, const Problem& problem) {
    const std::int64_t width = std::int64_t{problem.k} * problem.heads;
    // Partial sums of long rows: a tile has at most one for so many of its edges.
    std::uint64_t backend = (std::uint64_t{16} << 20) + bytes_of(layout.largest / 64 + 1, 4 * width);
    if (problem.weighted && (layout.streamed || layout.tiles.size() > 1)) {
        const auto each = static_cast<std::int64_t>(size_of(problem.dtype)) * problem.heads;
        backend += (layout.streamed ? kTileSlots : 1) * padded_bytes(bytes_of(layout.largest, each));
    }
    const std::uint64_t host = 8192 * static_cast<std::uint64_t>(layout.tiles.size());
    return is_cuda(context) ? TileMemory{host, backend} : TileMemory{host + backend, 0};
}

void require_within_limits(const Context& context, const TileLayout& layout, const TileMemory& needed) {
    const auto refuse = [&](const char* what, std::uint64_t size, std::uint64_t limit, const char* field) {
        throw Error(
            ErrorKind::out_of_memory,
            fmt::format("{} tiles of at most {} edges, {}, take {} of {} memory, and tiling.{} is {}; raise it, "
                        "or ask for {}",
                        layout.tiles.size(), layout.largest, layout.streamed ? "streamed" : "resident", in_gib(size),
                        what, field, limit, layout.streamed ? "smaller tiles (tile_edges)" : "GNNTUNE_TILES_STREAMED"));
    };
    if (needed.host_bytes > layout.host_limit_bytes) {
        refuse("host", needed.host_bytes, layout.host_limit_bytes, "host_limit_bytes");
    }
    if (is_cuda(context) && needed.backend_bytes > layout.backend_limit_bytes) {
        refuse("device", needed.backend_bytes, layout.backend_limit_bytes, "backend_limit_bytes");
    }
}

void require_tileable(const Problem& problem) {
    if (problem.op != Op::spmm) {
        throw unsupported("a tiled graph computes spmm alone; cut the graph into parts for other operations");
    }
    if (problem.direction == Direction::reversed) {
        throw unsupported(
            "a tiled graph is not reversed: rows of its tiles would be columns, whose sums span all tiles; describe "
            "the "
            "transposed graph as another tiled graph");
    }
    if (problem.self_loop) {
        throw unsupported(
            "a tiled graph has no self loops beside its edges: its tiles are not square; add the edges i -> i to the "
            "graph");
    }
}

}  // namespace gnntune::library
