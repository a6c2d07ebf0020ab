// NumPy arrays and archives for tests, put together byte by byte.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnntune::test {

inline void put(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i & 0xff);
}

inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran = false, int version = 1) {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
    std::string out("\x93NUMPY", 6);
    out += static_cast<char>(version);
    out += '\0';
    put(out, header.size(), version == 1 ? 2 : 4);
    return out + header + data;
}

template <typename T>
std::string array(const std::string& descr, const std::vector<T>& values, std::string shape = {}) {
    std::string data;
    for (const T& value : values) data.append(reinterpret_cast<const char*>(&value), sizeof value);
    if (shape.empty()) shape = "(" + std::to_string(values.size()) + ",)";
    return npy(descr, shape, data);
}

inline std::string ints(const std::vector<std::int32_t>& values, const std::string& shape = {}) {
    return array("<i4", values, shape);
}
inline std::string longs(const std::vector<std::int64_t>& values, const std::string& shape = {}) {
    return array("<i8", values, shape);
}
inline std::string floats(const std::vector<float>& values) {
    return array("<f4", values);
}

/// `window_bits` as zlib has them: they say what stands around the compressed text.
inline std::string deflated(const std::string& text, int window_bits = -MAX_WBITS) {
    z_stream z{};
    deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&z, text.size()) + 32, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

/// How an archive is put together; the defaults are numpy.savez of an old Python.
struct Zip {
    bool deflate = false;
    bool zip64 = false;  ///< as Python >= 3.11.4 writes: 0xffffffff in all 32-bit fields, ZIP64 records at the end
    std::uint16_t flags = 0;
    int method = -1;
    std::uint64_t extra_size = 0;  ///< added to the claimed unpacked size
    std::uint32_t crc_xor = 0;
    std::string comment;
};

inline std::string zip(const std::vector<std::pair<std::string, std::string>>& members, const Zip& how = {}) {
    std::string out;
    std::string directory;
    for (const auto& [key, content] : members) {
        const std::string name = key + ".npy";
        const std::string packed = how.deflate ? deflated(content) : content;
        const std::uint64_t size = content.size() + how.extra_size;
        const std::uint64_t offset = out.size();
        const auto crc =
            static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
        std::string common;
        put(common, how.zip64 ? 45 : 20, 2);
        put(common, how.flags, 2);
        put(common, how.method >= 0 ? static_cast<unsigned>(how.method) : how.deflate ? 8 : 0, 2);
        put(common, 0, 4);
        put(common, crc ^ how.crc_xor, 4);
        put(common, how.zip64 ? 0xffffffffu : packed.size(), 4);
        put(common, how.zip64 ? 0xffffffffu : size, 4);
        put(common, name.size(), 2);
        std::string extra;
        if (how.zip64) {
            put(extra, 1, 2);
            put(extra, 16, 2);
            put(extra, size, 8);
            put(extra, packed.size(), 8);
        }
        out += "PK\x03\x04" + common;
        put(out, extra.size(), 2);
        out += name + extra + packed;
        if (how.zip64) {
            extra.clear();
            put(extra, 1, 2);
            put(extra, 24, 2);
            put(extra, size, 8);
            put(extra, packed.size(), 8);
            put(extra, offset, 8);
        }
        directory += "PK\x01\x02";
        put(directory, 45, 2);
        directory += common;
        put(directory, extra.size(), 2);
        put(directory, 0, 6);
        put(directory, 0, 4);
        put(directory, how.zip64 ? 0xffffffffu : offset, 4);
        directory += name + extra;
    }
    const std::uint64_t start = out.size();
    out += directory;
    if (how.zip64) {
        const std::uint64_t record = out.size();
        out += "PK\x06\x06";
        put(out, 44, 8);
        put(out, 45, 2);
        put(out, 45, 2);
        put(out, 0, 8);
        put(out, members.size(), 8);
        put(out, members.size(), 8);
        put(out, directory.size(), 8);
        put(out, start, 8);
        out += "PK\x06\x07";
        put(out, 0, 4);
        put(out, record, 8);
        put(out, 1, 4);
    }
    out += "PK\x05\x06";
    put(out, 0, 4);
    put(out, how.zip64 ? 0xffffu : members.size(), 2);
    put(out, how.zip64 ? 0xffffu : members.size(), 2);
    put(out, how.zip64 ? 0xffffffffu : directory.size(), 4);
    put(out, how.zip64 ? 0xffffffffu : start, 4);
    put(out, how.comment.size(), 2);
    return out + how.comment;
}

}  // namespace gnntune::test
