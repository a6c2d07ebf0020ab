// What every target of a graph format does with its bytes: read them, and hold whatever comes out to the promises of
// graph_io.hpp. Only gnntune::Error may be thrown; a graph that is returned must be sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/common/error.hpp"
#include "core/graph/convert.hpp"
#include "core/graph/row_tiles.hpp"
#include "core/io/graph_io.hpp"
#include "core/io/wide_graph.hpp"

namespace gnntune::fuzz {

/// Small enough that a lie about a size cannot hide behind a large allocation.
inline constexpr std::uint64_t kMemoryLimitBytes = 1ull << 20;

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Of an io::LoadedGraph, or of what a reader gave before the fix-ups.
template <typename Loaded>
void check(const Loaded& loaded) {
    const CsrGraph& g = loaded.graph;
    validate(g.view());
    if (g.weighted() && g.edge_weight.size() != g.col_idx.size()) std::abort();
    if (!loaded.original_ids.empty() && loaded.original_ids.size() != static_cast<std::size_t>(g.n_rows)) std::abort();
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (std::int32_t e = g.row_ptr[static_cast<std::size_t>(i)] + 1;
             e < g.row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
            if (g.col_idx[static_cast<std::size_t>(e) - 1] > g.col_idx[static_cast<std::size_t>(e)]) std::abort();
        }
    }
}

inline void check(const io::WideCsrGraph& g) {
    validate_offsets(g.view());
    validate_ids(g.view());
    if (!g.edge_weight.empty() && g.edge_weight.size() != g.col_idx.size()) std::abort();
}

/// Checks what `load` returns. `load` may throw an Error instead; one of check() ends the target, as all else does.
template <typename Load>
int hold(const Load& load) {
    std::optional<decltype(load())> loaded;
    try {
        loaded = load();
    } catch (const Error& error) {
        // invalid_argument would mean that a reader blames the caller for the bytes.
        if (error.kind() == ErrorKind::invalid_argument) std::abort();
        return 0;
    }
    check(*loaded);
    return 0;
}

/// The same bytes as a graph whose offsets are of 64 bits.
inline int read_wide(std::string_view bytes, io::Format format, const char* name) {
    io::ReadOptions options;
    options.format = format;
    options.memory_limit_bytes = kMemoryLimitBytes;
    options.ignore_weights = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 1);
    return hold([&] { return io::read_wide_graph_bytes(bytes, name, options); });
}

/// The last byte chooses the fix-ups, so that they are reached too.
inline int read(std::string_view bytes, std::optional<io::Format> format, const char* name) {
    const unsigned choice = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.back());
    io::ReadOptions options;
    options.format = format;
    options.memory_limit_bytes = kMemoryLimitBytes;
    options.reverse = choice & 1;
    options.remove_self_loops = choice & 2;
    options.merge_duplicates = choice & 4;
    options.make_symmetric = choice & 8;
    if (choice & 16) options.base = choice >> 5 & 1;
    options.relabel = !options.base && (choice & 32);
    options.ignore_weights = choice & 64;
    if (!options.relabel && (choice & 128)) options.vertices = choice;
    return hold([&] { return io::read_graph_bytes(bytes, name, options); });
}

}  // namespace gnntune::fuzz
