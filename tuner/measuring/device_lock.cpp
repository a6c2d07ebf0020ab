#include "tuner/measuring/device_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/utc.hpp"

namespace gnntune::tuner {
namespace {

constexpr std::size_t kMostText = 4096;  // of the file that is read: anybody may have written to it

// An open file that has not become a lock yet.
class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    int get() const { return descriptor_; }
    int hand_over() { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

// A descriptor of the regular file, or -1 with errno. In a folder like /tmp the kernel refuses O_CREAT on a file of
// another user, so what exists is opened without it; a lock needs no right to write.
int open_or_make(const std::filesystem::path& path) {
    constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a pipe of this name must not block
    for (int attempt = 0; attempt < 10; ++attempt) {
        int file = open(path.c_str(), O_RDWR | kFlags);
        if (file < 0 && (errno == EACCES || errno == EROFS)) file = open(path.c_str(), O_RDONLY | kFlags);
        if (file >= 0 || errno != ENOENT) return file;
        file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, 0666);
        if (file >= 0) {
            // For all users, whatever the umask: the next holder says its name here.
            if (fchmod(file, 0666) != 0) errno = 0;
            return file;
        }
        if (errno != EEXIST) return -1;
    }
    return -1;
}

// The file that has this name now is the one that was locked, not one that a clean-up has taken the name from.
bool still_named(int file, const std::filesystem::path& path) {
    struct stat locked {};
    struct stat named {};
    return fstat(file, &locked) == 0 && lstat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

std::string printable(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return text;
}

void write_holder(int file, const std::string& command) {
    const std::string text =
        fmt::format("{}\n{}\n{}\n", getpid(), utc_now(), printable(command).substr(0, kMostText / 2));
    // Only what others are told: without it the lock holds all the same.
    if (ftruncate(file, 0) != 0 || pwrite(file, text.data(), text.size(), 0) < 0) errno = 0;
}

DeviceLock::Holder read_holder(int file) {
    std::string text(kMostText, '\0');
    const ssize_t n = pread(file, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    std::istringstream lines(text);
    DeviceLock::Holder holder;
    std::string pid;
    std::getline(lines, pid);
    std::getline(lines, holder.since);
    std::getline(lines, holder.command);
    holder.pid = std::strtol(pid.c_str(), nullptr, 10);
    // Left behind by one that is gone, where its successor may not write.
    if (holder.pid <= 0 || !std::filesystem::exists("/proc/" + std::to_string(holder.pid))) return {};
    holder.since = printable(holder.since).substr(0, 40);
    holder.command = printable(holder.command);
    return holder;
}

// What is in the way of using this file as a lock; nothing if it is usable.
std::optional<std::string> unusable(int file) {
    struct stat status {};
    if (file < 0) return std::string(std::strerror(errno));
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return "is no regular file";
    if (status.st_nlink > 1) return "has another name, under which it may be anybody's file";
    return std::nullopt;
}

}  // namespace

std::vector<std::filesystem::path> DeviceLock::default_folders() {
    if (const char* own = std::getenv("GNNTUNE_LOCK_DIR"); own && *own) return {own};
    std::vector<std::filesystem::path> folders{"/tmp"};
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime) folders.emplace_back(runtime);
    return folders;
}

std::string DeviceLock::describe(const Holder& holder) {
    if (holder.pid <= 0) return "another process";
    std::string text = fmt::format("process {}", holder.pid);
    if (!holder.command.empty()) text += fmt::format(" ({})", holder.command);
    if (!holder.since.empty()) text += fmt::format(", since {}", holder.since);
    return text;
}

std::optional<DeviceLock> DeviceLock::take(const std::string& key, const std::vector<std::filesystem::path>& folders,
                                           const Options& options) {
    std::string problems;
    for (const std::filesystem::path& folder : folders) {
        const std::filesystem::path path = folder / ("gnntune-" + key + ".lock");
        for (bool told = false;;) {
            File file(open_or_make(path));
            if (const auto why = unusable(file.get())) {
                problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", path.string(), *why);
                break;
            }
            if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
                if (!still_named(file.get(), path)) continue;
                write_holder(file.get(), options.command);
                return DeviceLock(file.hand_over(), path);
            }
            if (errno == EINTR) continue;
            if (errno != EWOULDBLOCK) {
                problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", path.string(), std::strerror(errno));
                break;
            }
            const Holder holder = read_holder(file.get());
            if (!options.wait) {
                throw Error(ErrorKind::no_device,
                            fmt::format("the GPU is in use for measuring by {} ({}); try again when it has ended, or "
                                        "wait for it: leave --no-wait out",
                                        describe(holder), path.string()));
            }
            if (!told && options.waiting) options.waiting(holder);
            told = true;
            if (options.stop && options.stop()) return std::nullopt;
            std::this_thread::sleep_for(options.poll);
        }
    }
    throw Error(ErrorKind::runtime, fmt::format("no lock for the GPU could be had: {}", problems));
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
    if (this != &other) {
        release();
        file_ = std::exchange(other.file_, -1);
        path_ = std::move(other.path_);
    }
    return *this;
}

DeviceLock::~DeviceLock() {
    release();
}

void DeviceLock::release() noexcept {
    if (file_ < 0) return;
    if (ftruncate(file_, 0) != 0) errno = 0;  // a file of another user: what it says is out of date
    flock(file_, LOCK_UN);                    // a child that was forked meanwhile has the file open too
    close(file_);
    file_ = -1;
}

}  // namespace gnntune::tuner
