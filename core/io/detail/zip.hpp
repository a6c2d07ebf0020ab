// ZIP archives through their central directory, with ZIP64. Local headers are not trusted for sizes: Python's zipfile
// leaves 0xffffffff there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/io/detail/streams.hpp"

namespace gnntune::io::detail {

struct ZipMember {
    std::string name;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;  ///< 0 stored, 8 deflated
    std::uint32_t crc = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t unpacked_bytes = 0;
    std::uint64_t header_offset = 0;
};

/// All members, in the directory's order. Throws ErrorKind::input where there is no sound directory.
std::vector<ZipMember> read_zip_directory(const RandomBytes& bytes, const std::string& name);

/// The member's content: exactly unpacked_bytes, whose CRC is checked when the last of them is read. Refuses encryption
/// and methods other than stored and deflated in words. `bytes` must outlive the stream.
std::unique_ptr<ByteStream> open_member(const RandomBytes& bytes, const ZipMember& member, const std::string& name);

}  // namespace gnntune::io::detail
