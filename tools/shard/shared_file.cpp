#include "tools/shard/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "core/common/error.hpp"

namespace gnntune::tools::shard {
namespace {

namespace fs = std::filesystem;

constexpr auto kPoll = std::chrono::milliseconds(10);

Error failed(const fs::path& path, const char* what, int error) {
    const char* advice = "name a folder that this user may write to with --work";
    if (std::strcmp(what, "read") == 0) {
        advice = "let this user read it";
    } else if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        advice = "make room; the same command goes on";
    } else if (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP) {
        advice = "its file system has no locks: name a folder on another with --work, or mount it with them";
    }
    return input_error(fmt::format("{} cannot be {}: {}; {}", path.string(), what, std::strerror(error), advice));
}

void write_all(int file, const fs::path& path, const std::string& bytes, std::int64_t offset) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = pwrite(file, bytes.data() + done, bytes.size() - done, offset + static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw failed(path, "written", errno);
        done += static_cast<std::size_t>(n);
    }
    // A server may say only now that its disk is full. What has no such thing (EINVAL) needs none.
    if (fsync(file) != 0 && errno != EINVAL && errno != ENOSYS) throw failed(path, "written", errno);
}

std::string read_all(int file, const fs::path& path) {
    std::string text;
    char piece[1 << 14];
    for (;;) {
        const ssize_t n = pread(file, piece, sizeof piece, static_cast<off_t>(text.size()));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw failed(path, "read", errno);
        if (n == 0) return text;
        text.append(piece, static_cast<std::size_t>(n));
    }
}

class Open {
public:
    Open(const fs::path& path, int flags) : file(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() {
        if (file >= 0) close(file);
    }
    int file;
};

/// A complete file beside `path`, gone when this ends.
class Beside {
public:
    Beside(const fs::path& target, const std::string& bytes) : path(target.string() + ".new-XXXXXX") {
        std::string name = path.string();
        const int file = mkostemp(name.data(), O_CLOEXEC);
        if (file < 0) throw failed(target, "made", errno);
        path = name;
        try {
            if (fchmod(file, 0644) != 0) errno = 0;  // as far as the file system has rights
            write_all(file, target, bytes, 0);
        } catch (...) {
            close(file);
            unlink(path.c_str());
            throw;
        }
        close(file);
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() { unlink(path.c_str()); }
    fs::path path;
};

}  // namespace

LockedFile::LockedFile(LockedFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

LockedFile& LockedFile::operator=(LockedFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    return *this;
}

LockedFile::~LockedFile() {
    if (file_ >= 0) close(file_);
}

std::optional<LockedFile> LockedFile::try_lock(const fs::path& path, Share share) {
    // To write, also for a shared lock: on NFS an exclusive one asks for that.
    LockedFile file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666), path);
    if (file.file_ < 0 && share == Share::with_others && (errno == EACCES || errno == EROFS)) {
        file.file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file.file_ < 0 && errno == ENOENT) return file;
        if (file.file_ < 0) throw failed(path, "read", errno);
    }
    if (file.file_ < 0) throw failed(path, "opened", errno);
    if (flock(file.file_, (share == Share::alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return file;
    if (errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
    throw failed(path, "locked", errno);
}

std::optional<LockedFile> LockedFile::lock(const fs::path& path, const std::function<bool()>& stop, Share share) {
    for (;;) {
        if (auto file = try_lock(path, share)) return file;
        if (stop && stop()) return std::nullopt;
        std::this_thread::sleep_for(kPoll);
    }
}

std::string LockedFile::read() const {
    return file_ < 0 ? "" : read_all(file_, path_);
}

void LockedFile::write_at(std::int64_t offset, const std::string& bytes) {
    write_all(file_, path_, bytes, offset);
}

void LockedFile::write(const std::string& bytes) {
    if (ftruncate(file_, 0) != 0) throw failed(path_, "written", errno);
    write_all(file_, path_, bytes, 0);
}

std::optional<std::string> read_shared(const fs::path& path) {
    const Open file(path, O_RDONLY);
    if (file.file < 0 && errno == ENOENT) return std::nullopt;
    if (file.file < 0) throw failed(path, "read", errno);
    return read_all(file.file, path);
}

bool make_whole(const fs::path& path, const std::string& bytes) {
    const Beside file(path, bytes);
    if (link(file.path.c_str(), path.c_str()) == 0) return true;
    if (errno == EEXIST) return false;
    throw failed(path, "made", errno);
}

void replace_whole(const fs::path& path, const std::string& bytes) {
    const Beside file(path, bytes);
    if (rename(file.path.c_str(), path.c_str()) != 0) throw failed(path, "made", errno);
}

}  // namespace gnntune::tools::shard
