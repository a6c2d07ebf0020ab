// Where the bytes of a file come from: random access, whatever lies beneath.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/io/detail/limits.hpp"

namespace gnntune::io::detail {

class RandomBytes {
public:
    virtual ~RandomBytes() = default;
    virtual std::uint64_t size() const = 0;
    /// Copies bytes [offset, offset + n) to `to`; throws ErrorKind::input if they are not all there.
    virtual void read_at(std::uint64_t offset, void* to, std::size_t n) const = 0;
};

/// Borrowed bytes. With `owner`, keeps that alive.
class MemoryBytes : public RandomBytes {
public:
    MemoryBytes(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
    MemoryBytes(std::shared_ptr<const std::string> owner, std::string name)
        : owner_(std::move(owner)), bytes_(*owner_), name_(std::move(name)) {}
    std::uint64_t size() const override { return bytes_.size(); }
    void read_at(std::uint64_t offset, void* to, std::size_t n) const override;

private:
    std::shared_ptr<const std::string> owner_;
    std::string_view bytes_;
    std::string name_;
};

/// Opens a regular file for reading in place. Read with pread and not mapped: as fast here, and a file that another
/// process cuts short is an error instead of a SIGBUS. Pipes and devices are read into memory, up to the limit.
std::unique_ptr<RandomBytes> open_bytes(const std::filesystem::path& path, const Limits& limits);

}  // namespace gnntune::io::detail
