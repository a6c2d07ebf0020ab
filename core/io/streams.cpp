#include "core/io/detail/streams.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "core/io/detail/fail.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::size_t kInputBytes = 1 << 16;
/// A decoder's dictionary is allocated on the word of the xz header, so this is all it may claim; `xz -9` needs 65 MiB.
constexpr std::uint64_t kLargestXzMemory = 128ull << 20;

class SliceStream : public ByteStream {
public:
    SliceStream(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t length)
        : bytes_(bytes), offset_(offset), left_(length) {}

    std::size_t read(char* to, std::size_t n) override {
        const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(n, left_));
        bytes_.read_at(offset_, to, take);
        offset_ += take;
        left_ -= take;
        return take;
    }

private:
    const RandomBytes& bytes_;
    std::uint64_t offset_;
    std::uint64_t left_;
};

/// gzip with any number of members, or one raw deflate stream.
class InflateStream : public ByteStream {
public:
    InflateStream(std::unique_ptr<ByteStream> packed, bool gzip, std::string name)
        : packed_(std::move(packed)), gzip_(gzip), name_(std::move(name)), input_(kInputBytes) {
        if (inflateInit2(&z_, gzip ? 16 + MAX_WBITS : -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
    ~InflateStream() override { inflateEnd(&z_); }
    InflateStream(const InflateStream&) = delete;
    InflateStream& operator=(const InflateStream&) = delete;

    std::size_t read(char* to, std::size_t n) override {
        std::size_t done = 0;
        while (done < n && !ended_) {
            if (z_.avail_in == 0) refill();
            const auto room = static_cast<uInt>(std::min<std::size_t>(n - done, 1u << 30));
            z_.next_out = reinterpret_cast<Bytef*>(to + done);
            z_.avail_out = room;
            const int rc = inflate(&z_, Z_NO_FLUSH);
            done += room - z_.avail_out;
            unpacked_ += room - z_.avail_out;
            if (gzip_) require_ratio(packed_bytes_, unpacked_, name_);
            if (rc == Z_STREAM_END) {
                next_member();
            } else if (rc == Z_BUF_ERROR && z_.avail_in == 0 && no_more_) {
                fail(name_, "the compressed data end too early: the file is cut short; fetch it again");
            } else if (rc == Z_MEM_ERROR) {
                throw std::bad_alloc();
            } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
                fail(name_, "the compressed data are damaged ({}); fetch the file again",
                     z_.msg ? z_.msg : "no deflate data");
            }
        }
        return done;
    }

private:
    void refill() {
        if (no_more_) return;
        const std::size_t got = packed_->read(reinterpret_cast<char*>(input_.data()), input_.size());
        no_more_ = got < input_.size();
        packed_bytes_ += got;
        z_.next_in = input_.data();
        z_.avail_in = static_cast<uInt>(got);
    }

    void next_member() {
        ended_ = true;
        if (!gzip_) return;
        // Members may follow one another; tapes and some servers pad with zeros.
        while (true) {
            if (z_.avail_in == 0) refill();
            if (z_.avail_in == 0) return;
            if (*z_.next_in != 0) break;
            ++z_.next_in;
            --z_.avail_in;
        }
        if (*z_.next_in != 0x1f) fail(name_, "bytes that are no gzip data follow the gzip data; fetch the file again");
        inflateReset(&z_);
        ended_ = false;
    }

    std::unique_ptr<ByteStream> packed_;
    bool gzip_;
    std::string name_;
    std::vector<unsigned char> input_;
    z_stream z_{};
    std::uint64_t packed_bytes_ = 0;
    std::uint64_t unpacked_ = 0;
    bool no_more_ = false;
    bool ended_ = false;
};

class XzStream : public ByteStream {
public:
    XzStream(std::unique_ptr<ByteStream> packed, std::string name)
        : packed_(std::move(packed)), name_(std::move(name)), input_(kInputBytes) {
        if (lzma_stream_decoder(&z_, kLargestXzMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    }
    ~XzStream() override { lzma_end(&z_); }
    XzStream(const XzStream&) = delete;
    XzStream& operator=(const XzStream&) = delete;

    std::size_t read(char* to, std::size_t n) override {
        if (ended_) return 0;
        z_.next_out = reinterpret_cast<std::uint8_t*>(to);
        z_.avail_out = n;
        while (z_.avail_out > 0 && !ended_) {
            if (z_.avail_in == 0 && !no_more_) {
                const std::size_t got = packed_->read(reinterpret_cast<char*>(input_.data()), input_.size());
                no_more_ = got < input_.size();
                z_.next_in = input_.data();
                z_.avail_in = got;
            }
            const lzma_ret rc = lzma_code(&z_, no_more_ ? LZMA_FINISH : LZMA_RUN);
            require_ratio(z_.total_in, z_.total_out, name_);
            if (rc == LZMA_STREAM_END) {
                ended_ = true;
            } else if (rc == LZMA_MEM_ERROR) {
                throw std::bad_alloc();
            } else if (rc == LZMA_MEMLIMIT_ERROR) {
                fail(name_, "unpacking needs {} MiB for the xz dictionary, over the limit; unpack it with xz -d first",
                     lzma_memusage(&z_) >> 20);
            } else if (rc == LZMA_BUF_ERROR) {
                fail(name_, "the compressed data end too early: the file is cut short; fetch it again");
            } else if (rc != LZMA_OK) {
                fail(name_, "the xz data are damaged (liblzma code {}); fetch the file again", static_cast<int>(rc));
            }
        }
        return n - z_.avail_out;
    }

private:
    std::unique_ptr<ByteStream> packed_;
    std::string name_;
    std::vector<unsigned char> input_;
    lzma_stream z_ = LZMA_STREAM_INIT;
    bool no_more_ = false;
    bool ended_ = false;
};

}  // namespace

Compression compression_of(const RandomBytes& bytes) {
    std::array<unsigned char, 6> head{};
    bytes.read_at(0, head.data(), static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), bytes.size())));
    if (head[0] == 0x1f && head[1] == 0x8b) return Compression::gzip;
    if (head == std::array<unsigned char, 6>{0xfd, '7', 'z', 'X', 'Z', 0}) return Compression::xz;
    return Compression::none;
}

std::unique_ptr<ByteStream> open_slice(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t length) {
    return std::make_unique<SliceStream>(bytes, offset, length);
}

std::unique_ptr<ByteStream> open_deflated_slice(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t length,
                                                const std::string& name) {
    return std::make_unique<InflateStream>(open_slice(bytes, offset, length), false, name);
}

std::unique_ptr<ByteStream> open_stream(const RandomBytes& bytes, const std::string& name) {
    auto stored = open_slice(bytes, 0, bytes.size());
    switch (compression_of(bytes)) {
        case Compression::gzip:
            return std::make_unique<InflateStream>(std::move(stored), true, name);
        case Compression::xz:
            return std::make_unique<XzStream>(std::move(stored), name);
        case Compression::none:
            break;
    }
    return stored;
}

std::string read_head(const RandomBytes& bytes, const std::string& name, std::size_t n) {
    std::string head(n, '\0');
    head.resize(open_stream(bytes, name)->read(head.data(), n));
    return head;
}

std::unique_ptr<RandomBytes> read_content(const RandomBytes& bytes, const std::string& name, const Limits& limits) {
    auto all = std::make_unique<HeldBytes>(name);
    const auto stream = open_stream(bytes, name);
    while (true) {
        std::size_t room = 0;
        char* const to = all->next(room, limits, "the unpacked file");
        const std::size_t got = stream->read(to, room);
        all->grew(got);
        if (got < room) return all;
    }
}

}  // namespace gnntune::io::detail
