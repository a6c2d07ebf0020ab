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

std::shared_ptr<const std::string> read_all(const FileDescriptor& fd, const std::string& name, const Limits& limits) {
    auto all = std::make_shared<std::string>();
    constexpr std::size_t kChunk = 1 << 20;
    while (true) {
        const std::size_t had = all->size();
        limits.require(had + kChunk, name, "the bytes of this pipe");
        all->resize(had + kChunk);
        const ssize_t got = read(fd.get(), all->data() + had, kChunk);
        all->resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && errno != EINTR) fail(name, "cannot be read ({})", system_words(errno));
        if (got == 0) return all;
    }
}

}  // namespace

void MemoryBytes::read_at(std::uint64_t offset, void* to, std::size_t n) const {
    if (offset > bytes_.size() || n > bytes_.size() - offset) {
        fail(name_, "ends at byte {}, but {} bytes were expected at byte {}: it is cut short", bytes_.size(), n,
             offset);
    }
    if (n > 0) std::memcpy(to, bytes_.data() + offset, n);
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
    return std::make_unique<MemoryBytes>(read_all(fd, name, limits), name);
}

}  // namespace gnntune::io::detail
