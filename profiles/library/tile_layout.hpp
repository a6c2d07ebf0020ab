// A graph as row tiles: where they are cut, where they lie, and what that takes, all of it known before anything is
// allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/row_tiles.hpp"
#include "core/include/gnntune/gnntune.h"
#include "profiles/library/context.hpp"
#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// Buffers of a streamed graph: one is read by kernels while the other is filled.
inline constexpr int kTileSlots = 2;
/// Of each of the two page-locked buffers through which pageable memory goes to a device.
inline constexpr std::size_t kStagingBytes = std::size_t{32} << 20;

/// Host memory and memory of the device; of the cpu backend all is host memory.
struct TileMemory {
    std::uint64_t host_bytes = 0;
    std::uint64_t backend_bytes = 0;
};

struct TileLayout {
    WideCsrView graph;
    std::vector<RowTile> tiles;
    std::int64_t largest = 0;  ///< edges of the largest tile
    bool streamed = false;
    bool pin = false;  ///< the library page-locks the caller's ids
    std::uint64_t host_limit_bytes = UINT64_MAX;
    std::uint64_t backend_limit_bytes = UINT64_MAX;
    std::uint64_t arrays_bytes = 0;   ///< of backend memory: offsets, and ids or their two buffers
    std::uint64_t formats_bytes = 0;  ///< of backend memory: what formats and plans may hold, building them included
    std::uint64_t staging_bytes = 0;  ///< of host memory
    std::uint64_t tables_bytes = 0;   ///< of host memory

    std::int64_t longest_row() const;
};

/// Throws ErrorKind::invalid_argument for numbers that gnntune.h does not list, ErrorKind::input for offsets that are
/// none, ErrorKind::unsupported for sizes over int32 and for a row that no tile holds.
TileLayout lay_out(const Context& context, const gnntune_csr& csr, const gnntune_tiling& tiling);

/// What the graph takes.
TileMemory memory_of(const Context& context, const TileLayout& layout);
/// What a plan of this problem takes beside it.
TileMemory memory_of(const Context& context, const TileLayout& layout, const Problem& problem);

/// Throws ErrorKind::out_of_memory in words if `needed` is over a limit of the layout.
void require_within_limits(const Context& context, const TileLayout& layout, const TileMemory& needed);

/// Throws ErrorKind::unsupported in words for problems that tiles of rows cannot do.
void require_tileable(const Problem& problem);

}  // namespace gnntune::library
