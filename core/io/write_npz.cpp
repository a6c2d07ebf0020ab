// scipy's save_npz layout with stored members: format, shape, indptr, indices, data.
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/output.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::uint64_t kSmallLimit = 0xffffffffu;
constexpr std::uint16_t kDosDate = 0x21;  // 1980-01-01: the same graph gives the same bytes on any day

void put(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i & 0xff);
}

/// Writes members one after the other and the directory at the end. ZIP64 fields appear only where a size needs them,
/// since old readers trip over them.
class ZipWriter {
public:
    explicit ZipWriter(Output& out) : out_(out) {}

    /// One array; `for_each_part(part)` must call part(pointer, bytes) for the same bytes each time it is asked.
    template <typename ForEachPart>
    void add(const std::string& key, std::string_view descr, const std::string& shape, ForEachPart for_each_part) {
        std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
        header.append(63 - (header.size() + 10) % 64, ' ');  // the data begin at a multiple of 64
        header += '\n';
        std::string npy("\x93NUMPY\x01\x00", 8);
        put(npy, header.size(), 2);
        npy += header;
        Entry entry{key + ".npy", out_.written(), npy.size(), 0};
        uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(npy.data()), npy.size());
        for_each_part([&](const void* data, std::size_t n) {
            if (n > 0) crc = crc32_z(crc, static_cast<const Bytef*>(data), n);
            entry.bytes += n;
        });
        entry.crc = static_cast<std::uint32_t>(crc);
        const bool big = entry.bytes >= kSmallLimit;
        std::string local("PK\x03\x04", 4);
        put_common(local, entry, big);
        put(local, entry.name.size(), 2);
        put(local, big ? 20 : 0, 2);
        local += entry.name;
        if (big) {
            put(local, 1, 2);
            put(local, 16, 2);
            put(local, entry.bytes, 8);
            put(local, entry.bytes, 8);
        }
        out_.write(local);
        out_.write(npy);
        for_each_part([&](const void* data, std::size_t n) { out_.write(data, n); });
        entries_.push_back(std::move(entry));
    }

    void finish() {
        const std::uint64_t start = out_.written();
        for (const Entry& entry : entries_) {
            const bool big = entry.bytes >= kSmallLimit || entry.offset >= kSmallLimit;
            std::string record("PK\x01\x02", 4);
            put(record, 45, 2);
            put_common(record, entry, big);
            put(record, entry.name.size(), 2);
            put(record, big ? 28 : 0, 2);
            put(record, 0, 2 + 2 + 2);  // comment, disk, internal attributes
            put(record, 0, 4);          // external attributes
            put(record, big ? kSmallLimit : entry.offset, 4);
            record += entry.name;
            if (big) {
                put(record, 1, 2);
                put(record, 24, 2);
                put(record, entry.bytes, 8);
                put(record, entry.bytes, 8);
                put(record, entry.offset, 8);
            }
            out_.write(record);
        }
        const std::uint64_t end = out_.written();
        const bool big = start >= kSmallLimit;
        std::string record;
        if (big) {
            record.append("PK\x06\x06", 4);
            put(record, 44, 8);
            put(record, 45, 2);
            put(record, 45, 2);
            put(record, 0, 8);
            put(record, entries_.size(), 8);
            put(record, entries_.size(), 8);
            put(record, end - start, 8);
            put(record, start, 8);
            record.append("PK\x06\x07", 4);
            put(record, 0, 4);
            put(record, end, 8);
            put(record, 1, 4);
        }
        record.append("PK\x05\x06", 4);
        put(record, 0, 4);
        put(record, entries_.size(), 2);
        put(record, entries_.size(), 2);
        put(record, end - start, 4);
        put(record, big ? kSmallLimit : start, 4);
        put(record, 0, 2);
        out_.write(record);
    }

private:
    struct Entry {
        std::string name;
        std::uint64_t offset;
        std::uint64_t bytes;
        std::uint32_t crc;
    };

    /// Version, flags, method (stored), time, date, checksum and both sizes: the same in both kinds of header.
    static void put_common(std::string& to, const Entry& entry, bool big) {
        put(to, big ? 45 : 20, 2);
        put(to, 0, 2 + 2 + 2);
        put(to, kDosDate, 2);
        put(to, entry.crc, 4);
        put(to, big ? kSmallLimit : entry.bytes, 4);
        put(to, big ? kSmallLimit : entry.bytes, 4);
    }

    Output& out_;
    std::vector<Entry> entries_;
};

}  // namespace

void write_npz(Output& out, const CsrView& graph) {
    const auto rows = static_cast<std::size_t>(graph.n_rows);
    const auto m = static_cast<std::size_t>(graph.m);
    const auto whole = [](const void* data, std::size_t bytes) { return [=](auto part) { part(data, bytes); }; };
    const std::int64_t shape[2] = {graph.n_rows, graph.n_cols};
    const std::vector<float> ones(std::min<std::size_t>(m, 1 << 16), 1.0f);
    ZipWriter zip(out);
    zip.add("format", "|S3", "()", whole("csr", 3));
    zip.add("shape", "<i8", "(2,)", whole(shape, sizeof shape));
    zip.add("indptr", "<i4", fmt::format("({},)", rows + 1), whole(graph.row_ptr, (rows + 1) * 4));
    zip.add("indices", "<i4", fmt::format("({},)", m), whole(graph.col_idx, m * 4));
    zip.add("data", "<f4", fmt::format("({},)", m), [&](auto part) {
        if (graph.edge_weight) return part(graph.edge_weight, m * 4);
        for (std::size_t done = 0; done < m; done += ones.size())
            part(ones.data(), std::min(ones.size(), m - done) * 4);
    });
    zip.finish();
}

}  // namespace gnntune::io::detail
