// Where the bytes of a file come from: random access, whatever lies beneath.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/detail/limits.hpp"

namespace gnntune::io::detail {

class RandomBytes {
public:
    virtual ~RandomBytes() = default;
    virtual std::uint64_t size() const = 0;
    /// Copies bytes [offset, offset + n) to `to`; throws ErrorKind::input if they are not all there.
    virtual void read_at(std::uint64_t offset, void* to, std::size_t n) const = 0;
    /// Memory that these bytes take and that counts against the limit.
    virtual std::uint64_t held_bytes() const { return 0; }
};

/// Borrowed bytes.
class MemoryBytes : public RandomBytes {
public:
    MemoryBytes(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
    std::uint64_t size() const override { return bytes_.size(); }
    void read_at(std::uint64_t offset, void* to, std::size_t n) const override;

private:
    std::string_view bytes_;
    std::string name_;
};

/// Bytes of which nobody knows beforehand how many will come. They are kept in pieces, so that growing copies nothing
/// and takes no more than what came.
class HeldBytes : public RandomBytes {
public:
    explicit HeldBytes(std::string name) : name_(std::move(name)) {}
    std::uint64_t size() const override { return size_; }
    void read_at(std::uint64_t offset, void* to, std::size_t n) const override;
    std::uint64_t held_bytes() const override { return pieces_.size() * kPieceBytes; }

    /// Where to put what comes next, at most `room` bytes; `what` it is, for the limits.
    char* next(std::size_t& room, const Limits& limits, std::string_view what);
    /// So many of them have come.
    void grew(std::size_t n) { size_ += n; }

private:
    static constexpr std::size_t kPieceBytes = 1 << 20;

    std::vector<std::unique_ptr<char[]>> pieces_;
    std::uint64_t size_ = 0;
    std::string name_;
};

/// Opens a regular file for reading in place. Read with pread and not mapped: as fast here, and a file that another
/// process cuts short is an error instead of a SIGBUS. Pipes and terminals are read into memory, up to the limit;
/// other devices are refused.
std::unique_ptr<RandomBytes> open_bytes(const std::filesystem::path& path, const Limits& limits);

}  // namespace gnntune::io::detail
