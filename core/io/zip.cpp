#include "core/io/detail/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/io/detail/fail.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::uint32_t kLocalMagic = 0x04034b50;
constexpr std::uint32_t kEntryMagic = 0x02014b50;
constexpr std::uint32_t kEndMagic = 0x06054b50;
constexpr std::uint32_t kEnd64Magic = 0x06064b50;
constexpr std::uint32_t kLocator64Magic = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::uint64_t kLargestDirectory = 64ull << 20;
constexpr std::uint64_t kLargestDeflateRatio = 1032;

template <typename T>
T load(const char* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

[[noreturn]] void fail_damaged(const std::string& name, std::string_view what) {
    fail(name, "the archive is damaged ({}); fetch it again", what);
}

struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

Directory find_directory(const RandomBytes& bytes, const std::string& name) {
    // The end record stands last, before a comment of at most 65535 bytes.
    const std::uint64_t size = bytes.size();
    const auto tail_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(size, kEndBytes + 0xffff));
    if (tail_bytes < kEndBytes) fail(name, "has {} bytes, too few for an archive; it is cut short", size);
    std::string tail(tail_bytes, '\0');
    bytes.read_at(size - tail_bytes, tail.data(), tail_bytes);
    std::size_t at = tail_bytes - kEndBytes;
    while (load<std::uint32_t>(&tail[at]) != kEndMagic ||
           at + kEndBytes + load<std::uint16_t>(&tail[at + 20]) > tail_bytes) {
        if (at-- == 0) fail(name, "holds no ZIP directory at its end: it is cut short; fetch it again");
    }
    const char* const end = &tail[at];
    Directory found{load<std::uint32_t>(end + 16), load<std::uint32_t>(end + 12)};
    const std::uint64_t end_offset = size - tail_bytes + at;
    const bool zip64 =
        found.offset == 0xffffffffu || found.bytes == 0xffffffffu || load<std::uint16_t>(end + 10) == 0xffff;
    if (zip64) {
        char locator[kLocator64Bytes];
        if (end_offset < kLocator64Bytes) fail_damaged(name, "no ZIP64 locator");
        bytes.read_at(end_offset - kLocator64Bytes, locator, kLocator64Bytes);
        if (load<std::uint32_t>(locator) != kLocator64Magic) fail_damaged(name, "no ZIP64 locator");
        const auto offset = load<std::uint64_t>(locator + 8);
        char end64[kEnd64Bytes];
        if (offset > size || size - offset < kEnd64Bytes) fail_damaged(name, "the ZIP64 record lies outside the file");
        bytes.read_at(offset, end64, kEnd64Bytes);
        if (load<std::uint32_t>(end64) != kEnd64Magic) fail_damaged(name, "no ZIP64 record");
        found = {load<std::uint64_t>(end64 + 48), load<std::uint64_t>(end64 + 40)};
    }
    if (found.offset > size || found.bytes > size - found.offset)
        fail_damaged(name, "the directory lies outside the file");
    if (found.bytes > kLargestDirectory)
        fail(name, "its directory takes {} MiB, which no .npz does", found.bytes >> 20);
    return found;
}

/// Sizes and the offset that did not fit 32 bits stand in extra field 1, in this order, only those that overflowed.
void read_zip64_extra(const char* p, const char* end, ZipMember& member, const std::string& name) {
    while (end - p >= 4) {
        const auto id = load<std::uint16_t>(p);
        const auto length = load<std::uint16_t>(p + 2);
        p += 4;
        if (length > end - p) fail_damaged(name, "an extra field is too long");
        if (id == 1) {
            const char* field = p;
            for (std::uint64_t* value : {&member.unpacked_bytes, &member.packed_bytes, &member.header_offset}) {
                if (*value != 0xffffffffu) continue;
                if (p + length - field < 8) fail_damaged(name, "a ZIP64 field is too short");
                *value = load<std::uint64_t>(field);
                field += 8;
            }
        }
        p += length;
    }
}

/// Counts and sums what it passes on.
class CheckedStream : public ByteStream {
public:
    CheckedStream(std::unique_ptr<ByteStream> content, const ZipMember& member, std::string name)
        : content_(std::move(content)),
          left_(member.unpacked_bytes),
          expected_crc_(member.crc),
          name_(std::move(name)) {}

    std::size_t read(char* to, std::size_t n) override {
        const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(n, left_));
        if (take == 0) return 0;
        if (content_->read(to, take) < take) fail(name_, "ends {} bytes too early; the archive is damaged", left_);
        crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(to), take);
        left_ -= take;
        if (left_ == 0 && crc_ != expected_crc_)
            fail(name_, "its checksum is wrong; the archive is damaged, fetch it again");
        return take;
    }

private:
    std::unique_ptr<ByteStream> content_;
    std::uint64_t left_;
    uLong crc_ = 0;
    std::uint32_t expected_crc_;
    std::string name_;
};

}  // namespace

std::vector<ZipMember> read_zip_directory(const RandomBytes& bytes, const std::string& name) {
    const Directory directory = find_directory(bytes, name);
    std::string text(static_cast<std::size_t>(directory.bytes), '\0');
    bytes.read_at(directory.offset, text.data(), text.size());
    std::vector<ZipMember> members;
    for (std::size_t at = 0; at < text.size();) {
        const char* const p = &text[at];
        if (text.size() - at < kEntryBytes || load<std::uint32_t>(p) != kEntryMagic) {
            fail_damaged(name, fmt::format("entry {} of its directory", members.size() + 1));
        }
        const std::size_t name_bytes = load<std::uint16_t>(p + 28);
        const std::size_t extra_bytes = load<std::uint16_t>(p + 30);
        const std::size_t comment_bytes = load<std::uint16_t>(p + 32);
        const std::size_t entry_bytes = kEntryBytes + name_bytes + extra_bytes + comment_bytes;
        if (entry_bytes > text.size() - at) fail_damaged(name, "its directory is cut short");
        ZipMember member;
        member.flags = load<std::uint16_t>(p + 8);
        member.method = load<std::uint16_t>(p + 10);
        member.crc = load<std::uint32_t>(p + 16);
        member.packed_bytes = load<std::uint32_t>(p + 20);
        member.unpacked_bytes = load<std::uint32_t>(p + 24);
        member.header_offset = load<std::uint32_t>(p + 42);
        member.name.assign(p + kEntryBytes, name_bytes);
        const char* const extra = p + kEntryBytes + name_bytes;
        read_zip64_extra(extra, extra + extra_bytes, member, name);
        members.push_back(std::move(member));
        at += entry_bytes;
    }
    return members;
}

std::unique_ptr<ByteStream> open_member(const RandomBytes& bytes, const ZipMember& member, const std::string& name) {
    const std::string where = name + " member " + printable(member.name);
    if (member.flags & 1) fail(where, "is encrypted; write the archive without a password");
    if (member.method != 0 && member.method != 8) {
        fail(where,
             "is compressed by method {}; only stored and deflated members are read, as numpy.savez and "
             "numpy.savez_compressed write them",
             member.method);
    }
    const std::uint64_t size = bytes.size();
    char local[kLocalBytes];
    if (member.header_offset > size || size - member.header_offset < kLocalBytes)
        fail_damaged(where, "it lies outside the file");
    bytes.read_at(member.header_offset, local, kLocalBytes);
    if (load<std::uint32_t>(local) != kLocalMagic) fail_damaged(where, "no local header");
    const std::uint64_t start =
        member.header_offset + kLocalBytes + load<std::uint16_t>(local + 26) + load<std::uint16_t>(local + 28);
    if (start > size || member.packed_bytes > size - start) fail_damaged(where, "it lies outside the file");
    // Deflate cannot grow data by more than this, so a larger claim is a lie that must not be believed.
    const bool impossible = member.method == 0 ? member.unpacked_bytes != member.packed_bytes
                                               : member.unpacked_bytes / kLargestDeflateRatio > member.packed_bytes;
    if (impossible) {
        fail_damaged(where, fmt::format("{} bytes cannot hold {}", member.packed_bytes, member.unpacked_bytes));
    }
    auto content = member.method == 0 ? open_slice(bytes, start, member.packed_bytes)
                                      : open_deflated_slice(bytes, start, member.packed_bytes, where);
    return std::make_unique<CheckedStream>(std::move(content), member, where);
}

}  // namespace gnntune::io::detail
