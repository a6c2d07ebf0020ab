// Files in a folder that several hosts may share: locks that end with the process, and files that are there whole or not
// at all.
//
// Assumed of the file system: flock(2) that all hosts see (Linux turns it into a lock of the server on NFS; Lustre has to
// be mounted with `flock`, not `localflock`), a lock after which what others wrote before they gave it back can be read, and
// link(2) and rename(2) in one step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace gnntune::tools::shard {

enum class Share { alone, with_others };

/// An open file with a lock on it, which is given back by the destructor, and by the kernel however the process ends. All
/// functions throw ErrorKind::input in words: the file, what the system says, what to do.
class LockedFile {
public:
    /// Nothing if others have it now. The file is made if it is not there. With others, a user who may not write gets it
    /// too: to read, or as an empty one where it is not there and cannot be made, so that nobody can have it.
    static std::optional<LockedFile> try_lock(const std::filesystem::path& path, Share share = Share::alone);
    /// Waits for it, until `stop` says so: then nothing.
    static std::optional<LockedFile> lock(const std::filesystem::path& path, const std::function<bool()>& stop,
                                          Share share = Share::alone);

    LockedFile(LockedFile&& other) noexcept;
    LockedFile& operator=(LockedFile&& other) noexcept;
    ~LockedFile();

    /// All of it.
    std::string read() const;
    /// In one call, so that a kill leaves the old or the new bytes.
    void write_at(std::int64_t offset, const std::string& bytes);
    /// All of it anew.
    void write(const std::string& bytes);

private:
    LockedFile(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}

    int file_ = -1;
    std::filesystem::path path_;
};

/// Nothing if the file is not there. Throws ErrorKind::input in words if it cannot be read.
std::optional<std::string> read_shared(const std::filesystem::path& path);
/// False if the file is there already: of several that make it at once one does. Throws ErrorKind::input in words.
bool make_whole(const std::filesystem::path& path, const std::string& bytes);
/// Puts it in the place of another. Throws ErrorKind::input in words.
void replace_whole(const std::filesystem::path& path, const std::string& bytes);

}  // namespace gnntune::tools::shard
