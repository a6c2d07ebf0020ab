// One process at a time measures on a GPU: two that do ruin each other's times without either of them noticing.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnntune::tuner {

/// An advisory lock (flock) on a file named after a key. It is held while this object lives and released by the kernel
/// when the process ends, however it ends. The file stays behind: taking it away would let two processes lock two files
/// of one name. Programs that do not ask for the lock are not kept out (gpu_state.hpp finds those). A
/// child that is forked meanwhile does not keep the lock after this object.
class DeviceLock {
public:
    /// What the file says of the process that holds its lock. It may be empty: the process has just begun, or may not
    /// write to the file of another user.
    struct Holder {
        long pid = 0;
        std::string since;    ///< UTC, "2026-11-21T09:30:00Z"
        std::string command;  ///< its command line, printable
    };

    struct Options {
        bool wait = true;                            ///< false: throw at once if another process holds it
        std::string command;                         ///< what others are told of this process
        std::function<void(const Holder&)> waiting;  ///< told once, before waiting
        std::function<bool()> stop;                  ///< asked while waiting; true ends it
        std::chrono::milliseconds poll{100};
    };

    /// Takes the lock of `key` (letters, digits, '-' and '_') in the first of `folders` where its file can be opened or
    /// made. A file of another user that can be read is locked like an own one. Nothing if `stop` ended the waiting.
    /// Throws ErrorKind::no_device in words if another process holds it and `wait` is false, and ErrorKind::runtime if
    /// no folder has a file that can be locked.
    static std::optional<DeviceLock> take(const std::string& key, const std::vector<std::filesystem::path>& folders,
                                          const Options& options);

    /// $GNNTUNE_LOCK_DIR alone if it is set; else /tmp, which all users of a machine share, as they share its GPUs,
    /// then $XDG_RUNTIME_DIR, which is the user's own.
    static std::vector<std::filesystem::path> default_folders();

    /// "process 42 (gnntune tune a.mtx), since 2026-11-21T09:30:00Z", as far as it is known.
    static std::string describe(const Holder& holder);

    DeviceLock(DeviceLock&& other) noexcept;
    DeviceLock& operator=(DeviceLock&& other) noexcept;
    ~DeviceLock();

    const std::filesystem::path& path() const { return path_; }

private:
    DeviceLock(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}
    void release() noexcept;

    int file_ = -1;
    std::filesystem::path path_;
};

}  // namespace gnntune::tuner
