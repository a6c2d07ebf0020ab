#include "core/io/detail/limits.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/io/detail/fail.hpp"
#include "core/io/graph_io.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::uint64_t kMebibyte = 1ull << 20;
constexpr std::uint64_t kFreeVertexBytes = 256 * kMebibyte;
constexpr std::uint64_t kVertexBytesPerDataByte = 64;
constexpr std::uint64_t kFreeUnpackedBytes = 256 * kMebibyte;
constexpr std::uint64_t kLargestRatio = 256;

std::uint64_t physical_memory_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return 16384 * kMebibyte;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

/// Of row_ptr and of what else has a number for each vertex.
std::uint64_t vertex_bytes(std::int64_t n) {
    return (static_cast<std::uint64_t>(n) + 1) * sizeof(std::int32_t);
}

bool out_of_proportion(std::int64_t n, std::uint64_t data_bytes) {
    // Division, not a product: a file of many exabytes is no reason to overflow.
    return vertex_bytes(n) > kFreeVertexBytes && vertex_bytes(n) / kVertexBytesPerDataByte > data_bytes;
}

}  // namespace

Limits Limits::from(const ReadOptions& options) {
    Limits limits;
    limits.given = options.memory_limit_bytes > 0;
    limits.believed = options.vertices.value_or(0);
    limits.memory_bytes = limits.given ? options.memory_limit_bytes : physical_memory_bytes() / 4 * 3;
    return limits;
}

Limits Limits::without(std::uint64_t held_bytes) const {
    Limits left = *this;
    left.memory_bytes -= std::min(held_bytes, memory_bytes);
    return left;
}

void Limits::require(std::uint64_t bytes, const std::string& name, std::string_view what) const {
    *asked = {bytes, what};
    if (bytes <= memory_bytes) return;
    fail(name,
         "{} would take {} MiB, over the limit of {} MiB, three quarters of the memory unless it is given; use a "
         "machine with more memory, or split the graph",
         what, bytes / kMebibyte, memory_bytes / kMebibyte);
}

void Limits::require_vertices(std::int64_t n, std::uint64_t data_bytes, const std::string& name,
                              std::string_view advice) const {
    require(vertex_bytes(n), name, "the vertices");
    if (given || n <= believed || !out_of_proportion(n, data_bytes)) return;
    const std::string usual =
        fmt::format("give --vertices {}, or leave out the vertices without edges and number the others anew", n);
    fail(name, "claims {} vertices but holds only {} bytes, which is taken for damage; if it is right, {}", n,
         data_bytes, advice.empty() ? usual : advice);
}

void Limits::require_columns(std::int64_t n, std::uint64_t data_bytes, const std::string& name) const {
    require(vertex_bytes(n), name, "the columns");
    if (given || n <= believed || !out_of_proportion(n, data_bytes)) return;
    fail(name,
         "claims {} columns but holds only {} bytes, which is taken for damage; if it is right, give --vertices {} for "
         "a square matrix, or leave out the columns without entries and number the others anew",
         n, data_bytes, n);
}

void require_ratio(std::uint64_t packed_bytes, std::uint64_t unpacked_bytes, const std::string& name) {
    if (unpacked_bytes <= kFreeUnpackedBytes || unpacked_bytes / kLargestRatio <= packed_bytes) return;
    fail(name, "{} compressed bytes grew to over {} MiB, which no graph does; unpack the file yourself if it is sound",
         packed_bytes, unpacked_bytes / kMebibyte);
}

}  // namespace gnntune::io::detail
