// .gnng: a CSR graph as it lies in memory, to be read in one go or mapped. Little-endian, all offsets in bytes.
//
//   0  char[8]  magic         89 47 4e 4e 47 0d 0a 1a   (\x89 G N N G \r \n \x1a: a text-mode copy breaks it visibly)
//   8  u32      version       1
//  12  u32      flags         bit 0: weighted; bit 1: columns ascend within rows; bit 2: row_ptr is of i64; others 0
//  16  i64      n_rows
//  24  i64      n_cols
//  32  i64      m             number of entries
//  40  u64[2]   fingerprint   lo, hi of the structure (core/graph/fingerprint.hpp)
//  56  u64      row_ptr       offset of i32[n_rows + 1], or of i64; always 128
//  64  u64      col_idx       offset of i32[m], the next multiple of 64
//  72  u64      edge_weight   offset of f32[m], the next multiple of 64; 0 where unweighted
//  80  u64      file_bytes    size of the whole file: the end of the last array, without padding
//  88  u32      checksum      CRC-32 (zlib's) of the whole file with these four bytes taken as 0
//  92  u8[36]   0
//
// Offsets are of i64 where there are more than 2^31 - 1 entries, and may be elsewhere; programs before that refuse such a
// file as one of a newer program.
//
// Bytes between the arrays are 0. A reader checks all of this before it believes any of it; sizes are believed only
// when file_bytes is the size of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gnntune::io::gnng {

inline constexpr std::string_view kMagic{"\x89GNNG\r\n\x1a", 8};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kWeighted = 1;
inline constexpr std::uint32_t kSortedColumns = 2;
inline constexpr std::uint32_t kWideOffsets = 4;
inline constexpr std::uint64_t kAlignment = 64;

struct Header {
    char magic[8] = {};
    std::uint32_t version = kVersion;
    std::uint32_t flags = 0;
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;
    std::uint64_t fingerprint_lo = 0;
    std::uint64_t fingerprint_hi = 0;
    std::uint64_t row_ptr = 0;
    std::uint64_t col_idx = 0;
    std::uint64_t edge_weight = 0;
    std::uint64_t file_bytes = 0;
    std::uint32_t checksum = 0;
    std::uint8_t zero[36] = {};
};
static_assert(sizeof(Header) == 128, "the header of a .gnng file takes 128 bytes");

/// Bytes of an element of row_ptr.
inline std::uint64_t offset_bytes(const Header& header) {
    return header.flags & kWideOffsets ? 8 : 4;
}

/// Fills the three offsets and file_bytes from the sizes and flags.
void lay_out(Header& header);

}  // namespace gnntune::io::gnng
