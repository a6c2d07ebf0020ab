// Bytes one after the other: as stored, or undoing gzip, xz or raw deflate on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/io/detail/bytes.hpp"

namespace gnntune::io::detail {

class ByteStream {
public:
    virtual ~ByteStream() = default;
    /// Fills up to `n` bytes and returns how many; fewer than `n` only at the end, then 0.
    virtual std::size_t read(char* to, std::size_t n) = 0;
};

enum class Compression { none, gzip, xz };
Compression compression_of(const RandomBytes& bytes);

/// The content of a file with gzip or xz undone. `bytes` must outlive the stream.
std::unique_ptr<ByteStream> open_stream(const RandomBytes& bytes, const std::string& name);

/// Bytes [offset, offset + length) as they are, and the same as raw deflate data (a member of a ZIP archive).
std::unique_ptr<ByteStream> open_slice(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t length);
std::unique_ptr<ByteStream> open_deflated_slice(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t length,
                                                const std::string& name);

/// First bytes of the content, at most `n`.
std::string read_head(const RandomBytes& bytes, const std::string& name, std::size_t n);

/// The whole content in memory, for formats that need random access (an .npz inside a .gz); bounded by the limits.
std::unique_ptr<RandomBytes> read_content(const RandomBytes& bytes, const std::string& name, const Limits& limits);

}  // namespace gnntune::io::detail
