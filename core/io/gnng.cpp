#include "core/io/gnng.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/graph/convert.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/readers.hpp"
#include "core/io/detail/streams.hpp"
#include "core/io/detail/wide.hpp"

namespace gnntune::io {
namespace gnng {

void lay_out(Header& header) {
    const auto align = [](std::uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; };
    const auto m = static_cast<std::uint64_t>(header.m);
    header.row_ptr = sizeof(Header);
    header.col_idx = align(header.row_ptr + offset_bytes(header) * (static_cast<std::uint64_t>(header.n_rows) + 1));
    header.edge_weight = header.flags & kWeighted ? align(header.col_idx + 4 * m) : 0;
    header.file_bytes = (header.edge_weight ? header.edge_weight : header.col_idx) + 4 * m;
}

}  // namespace gnng

namespace detail {
namespace {

/// `most`: entries that the caller has formats for.
gnng::Header read_gnng_header(const RandomBytes& bytes, const std::string& name, std::int64_t most) {
    gnng::Header header;
    if (bytes.size() < sizeof header)
        fail(name, "has {} bytes, too few for a .gnng file; it is cut short", bytes.size());
    bytes.read_at(0, &header, sizeof header);
    if (std::string_view(header.magic, 8) != gnng::kMagic) fail(name, "does not start as a .gnng file does");
    if (header.version != gnng::kVersion) {
        fail(name, "is a .gnng file of version {}, but this program reads version {}; convert the graph again",
             header.version, gnng::kVersion);
    }
    const bool zeros = std::all_of(std::begin(header.zero), std::end(header.zero), [](auto byte) { return byte == 0; });
    if ((header.flags & ~(gnng::kWeighted | gnng::kSortedColumns | gnng::kWideOffsets)) != 0 || !zeros) {
        fail(name, "has a .gnng header with unknown flags; it is damaged or of a newer program");
    }
    if (header.n_rows < 0 || header.n_cols < 0 || header.m < 0) {
        fail(name, "has negative sizes ({} x {}, {} entries); the file is damaged", header.n_rows, header.n_cols,
             header.m);
    }
    require_counts(header.n_rows, header.n_cols, header.m > most ? header.m : 0, name);
    // Before sizes are computed from it, which must not overflow.
    if (static_cast<std::uint64_t>(header.m) > bytes.size() / 4) {
        fail(name, "has {} bytes, too few for the {} entries of its header; the file is cut short or damaged",
             bytes.size(), header.m);
    }
    gnng::Header expected = header;
    gnng::lay_out(expected);
    if (std::memcmp(&expected, &header, sizeof header) != 0) {
        fail(name, "has .gnng offsets that do not fit its sizes; the file is damaged");
    }
    if (header.file_bytes != bytes.size()) {
        fail(name, "has {} bytes, but its header promises {}; the file is cut short or damaged", bytes.size(),
             header.file_bytes);
    }
    return header;
}

/// The arrays of a file, in order, and the checksum over them and over what is between.
class ArrayReader {
public:
    ArrayReader(const Input& input, const gnng::Header& header) : input_(input), at_(sizeof header) {
        gnng::Header zeroed = header;
        zeroed.checksum = 0;
        crc_ = crc32_z(0, reinterpret_cast<const Bytef*>(&zeroed), sizeof zeroed);
    }
    template <typename T>
    void read(std::uint64_t offset, HostVector<T>& array, std::int64_t count) {
        char padding[gnng::kAlignment] = {};
        const auto gap = static_cast<std::size_t>(offset - at_);
        input_.bytes.read_at(at_, padding, gap);
        if (!std::all_of(padding, padding + gap, [](char c) { return c == 0; })) {
            fail(input_.name, "has bytes other than 0 between its arrays; the file is damaged");
        }
        crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(padding), gap);
        array.resize(static_cast<std::size_t>(count));
        input_.bytes.read_at(offset, array.data(), array.size() * sizeof(T));
        // Of an empty array data() may be null, for which zlib starts over.
        if (!array.empty())
            crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(array.data()), array.size() * sizeof(T));
        at_ = offset + array.size() * sizeof(T);
    }
    uLong checksum() const { return crc_; }

private:
    const Input& input_;
    std::uint64_t at_;
    uLong crc_ = 0;
};

/// Fills row_ptr, of whatever width, col_idx and edge_weight as the file has them.
template <typename Graph>
void read_arrays(const Input& input, const gnng::Header& header, Graph& g) {
    const std::string& name = input.name;
    // file_bytes is the size of the file, so these arrays are backed by it.
    input.limits.require(header.file_bytes, name, "the graph");
    input.limits.require_columns(header.n_cols, header.file_bytes, name);
    g.n_rows = static_cast<std::int32_t>(header.n_rows);
    g.n_cols = static_cast<std::int32_t>(header.n_cols);
    ArrayReader reader(input, header);
    using Offset = typename decltype(g.row_ptr)::value_type;
    if (gnng::offset_bytes(header) == sizeof(Offset)) {
        reader.read(header.row_ptr, g.row_ptr, header.n_rows + 1);
    } else if constexpr (sizeof(Offset) == 8) {
        HostVector<std::int32_t> narrow;
        reader.read(header.row_ptr, narrow, header.n_rows + 1);
        g.row_ptr.assign(narrow.begin(), narrow.end());
    } else {
        HostVector<std::int64_t> wide;
        reader.read(header.row_ptr, wide, header.n_rows + 1);
        g.row_ptr.resize(wide.size());
        for (std::size_t i = 0; i < wide.size(); ++i) {
            if (wide[i] < 0 || wide[i] > header.m) fail(name, "row_ptr[{}] is {}, outside 0..{}", i, wide[i], header.m);
            g.row_ptr[i] = static_cast<std::int32_t>(wide[i]);
        }
    }
    reader.read(header.col_idx, g.col_idx, header.m);
    if (header.edge_weight) reader.read(header.edge_weight, g.edge_weight, header.m);
    if (reader.checksum() != header.checksum) {
        fail(name, "its checksum is wrong; the file is damaged, convert the graph again");
    }
}

/// A sound checksum says that the bytes are the writer's, not that the writer was right.
template <typename Graph>
void check_content(const Input& input, const gnng::Header& header, const Graph& g, const ReadOptions& options) {
    const std::string& name = input.name;
    for (std::size_t e = 0; e < g.edge_weight.size() && !options.ignore_weights; ++e) {
        if (!std::isfinite(g.edge_weight[e])) fail(name, "edge_weight[{}] is not a finite number", e);
    }
    const Fingerprint print = fingerprint(g.view());
    if (print.lo != header.fingerprint_lo || print.hi != header.fingerprint_hi) {
        fail(name, "its graph has the fingerprint {}, which is not the one in its header; convert the graph again",
             print.text());
    }
}

}  // namespace

RawGraph read_gnng(const Input& input, const ReadOptions& options) {
    const gnng::Header header = read_gnng_header(input.bytes, input.name, kMaxEdges);
    RawGraph raw;
    raw.format = "gnng";
    raw.data_bytes = header.file_bytes;
    CsrGraph& g = raw.graph;
    read_arrays(input, header, g);
    check_csr(g, input.name, "row_ptr", "col_idx");
    check_content(input, header, g, options);
    sort_columns(g);
    return raw;
}

WideCsrGraph read_wide_gnng(const Input& input, const ReadOptions& options) {
    const gnng::Header header = read_gnng_header(input.bytes, input.name, std::numeric_limits<std::int64_t>::max());
    WideCsrGraph g;
    read_arrays(input, header, g);
    check_wide(g, input.name);
    check_content(input, header, g, options);
    if (options.ignore_weights) g.edge_weight = {};
    return g;
}

}  // namespace detail
}  // namespace gnntune::io
