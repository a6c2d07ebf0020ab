#include "core/io/detail/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/io/detail/fail.hpp"

namespace gnntune::io::detail {
namespace {

class FileDescriptor {
public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    ~FileDescriptor() {
        if (fd_ >= 0) close(fd_);
    }
    int get() const { return fd_; }

private:
    int fd_;
};

class FileBytes : public RandomBytes {
public:
    FileBytes(FileDescriptor fd, std::uint64_t size, std::string name)
        : fd_(std::move(fd)), size_(size), name_(std::move(name)) {}

    std::uint64_t size() const override { return size_; }

    void read_at(std::uint64_t offset, void* to, std::size_t n) const override {
        auto* p = static_cast<char*>(to);
        while (n > 0) {
            const ssize_t got = pread(fd_.get(), p, n, static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail(name_, "cannot be read ({})", system_words(errno));
            if (got == 0) fail(name_, "ends at byte {} of {}: it is cut short or still being written", offset, size_);
            p += got;
            offset += static_cast<std::uint64_t>(got);
            n -= static_cast<std::size_t>(got);
        }
    }

private:
    FileDescriptor fd_;
    std::uint64_t size_;
    std::string name_;
};

std::unique_ptr<RandomBytes> read_all(const FileDescriptor& fd, const std::string& name, const Limits& limits) {
    auto all = std::make_unique<HeldBytes>(name);
    while (true) {
        std::size_t room = 0;
        char* const to = all->next(room, limits, "the bytes of this pipe");
        const ssize_t got = read(fd.get(), to, room);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(name, "cannot be read ({})", system_words(errno));
        if (got == 0) return all;
        all->grew(static_cast<std::size_t>(got));
    }
}

[[noreturn]] void fail_short(const std::string& name, std::uint64_t size, std::uint64_t offset, std::size_t n) {
    fail(name, "ends at byte {}, but {} bytes were expected at byte {}: it is cut short", size, n, offset);
}

}  // namespace

void MemoryBytes::read_at(std::uint64_t offset, void* to, std::size_t n) const {
    if (offset > bytes_.size() || n > bytes_.size() - offset) fail_short(name_, bytes_.size(), offset, n);
    if (n > 0) std::memcpy(to, bytes_.data() + offset, n);
}

void HeldBytes::read_at(std::uint64_t offset, void* to, std::size_t n) const {
    if (offset > size_ || n > size_ - offset) fail_short(name_, size_, offset, n);
    auto* out = static_cast<char*>(to);
    while (n > 0) {
        const auto within = static_cast<std::size_t>(offset % kPieceBytes);
        const std::size_t take = std::min(n, kPieceBytes - within);
        std::memcpy(out, pieces_[static_cast<std::size_t>(offset / kPieceBytes)].get() + within, take);
        out += take;
        offset += take;
        n -= take;
    }
}

char* HeldBytes::next(std::size_t& room, const Limits& limits, std::string_view what) {
    const auto within = static_cast<std::size_t>(size_ % kPieceBytes);
    if (size_ == held_bytes()) {
        limits.require(size_ + kPieceBytes, name_, what);
        pieces_.push_back(std::make_unique_for_overwrite<char[]>(kPieceBytes));
    }
    room = kPieceBytes - within;
    return pieces_.back().get() + within;
}

std::unique_ptr<RandomBytes> open_bytes(const std::filesystem::path& path, const Limits& limits) {
    const std::string name = path.string();
    FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 && errno == ENOENT) fail(name, "no such file; check the path");
    if (fd.get() < 0) fail(name, "cannot be opened ({}); check the path and its permissions", system_words(errno));
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) fail(name, "cannot be examined ({})", system_words(errno));
    if (S_ISREG(info.st_mode)) {
        return std::make_unique<FileBytes>(std::move(fd), static_cast<std::uint64_t>(info.st_size), name);
    }
    if (S_ISDIR(info.st_mode)) fail(name, "is a folder, expected a file");
    // /dev/zero has no end; /dev/stdin is what stands behind it.
    if (!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode) && isatty(fd.get()) == 0) {
        fail(name, "is a device, expected a file or a pipe");
    }
    return read_all(fd, name, limits);
}

}  // namespace gnntune::io::detail
