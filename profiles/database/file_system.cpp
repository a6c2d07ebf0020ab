#include "profiles/database/file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "core/common/error.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

struct Magic {
    unsigned long number;
    std::string_view name;
};
// From statfs(2) and the headers of the file systems that it does not list.
constexpr std::array kNetworkFileSystems{
    Magic{0x6969, "NFS"},        Magic{0x517b, "SMB"},        Magic{0xff534d42, "CIFS"}, Magic{0xfe534d42, "SMB2"},
    Magic{0x65735546, "FUSE"},   Magic{0x0bd00bd0, "Lustre"}, Magic{0x00c36400, "Ceph"}, Magic{0x01021997, "9P"},
    Magic{0x5346414f, "AFS"},    Magic{0x6b414653, "kAFS"},   Magic{0x73757245, "Coda"}, Magic{0x47504653, "GPFS"},
    Magic{0x19830326, "BeeGFS"}, Magic{0x7461636f, "OCFS2"},  Magic{0x01161970, "GFS2"}, Magic{0xaad7aaea, "PanFS"},
};

struct Signature {
    std::string_view start;
    std::string_view name;
};
constexpr std::array kSignatures{
    Signature{std::string_view("\x1f\x8b", 2), "a gzip file"},
    Signature{std::string_view("PK\x03\x04", 4), "a zip or npz file"},
    Signature{std::string_view("\x89HDF", 4), "an HDF5 file"},
    Signature{std::string_view("\x7f"
                               "ELF",
                               4),
              "a program or library"},
    Signature{std::string_view("\x93NUMPY", 6), "a NumPy file"},
    Signature{std::string_view("\xfd"
                               "7zXZ",
                               5),
              "an xz file"},
    Signature{std::string_view("%%MatrixMarket"), "a Matrix Market file"},
};

std::string_view what_starts_with(std::string_view head) {
    for (const auto& signature : kSignatures) {
        if (head.starts_with(signature.start)) return signature.name;
    }
    const bool text = std::all_of(head.begin(), head.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\r' || c == '\t';
    });
    return text ? "a text file" : "a file of unknown kind";
}

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
}

/// Of what stat(2) could not say anything about.
std::string unreachable_complaint(const fs::path& path, const std::error_code& why) {
    const std::string words = path.string() + ": cannot be reached: " + why.message();
    if (why != std::errc::permission_denied) return words;
    return words + "; this user may not search a folder on the way";
}

bool is_default_place(const fs::path& path) {
    try {
        return path == default_user_database();
    } catch (const Error&) {
        return false;  // none of its variables is set
    }
}

}  // namespace

fs::path default_user_database() {
    if (const char* path = variable("GNNTUNE_DB")) return path;
    if (const char* data = variable("XDG_DATA_HOME")) return fs::path(data) / "gnntune" / "user.db";
    if (const char* home = variable("HOME")) return fs::path(home) / ".local" / "share" / "gnntune" / "user.db";
    throw database_error("no place for the user's database: set GNNTUNE_DB, XDG_DATA_HOME or HOME");
}

void require_folder(const fs::path& database) {
    const fs::path folder = database.parent_path();
    std::error_code code;
    if (folder.empty() || is_there(folder)) return;
    if (is_default_place(database)) fs::create_directories(folder, code);
    if (is_there(folder)) return;
    throw database_error(fmt::format("{}: the folder {} does not exist{}", database.string(), folder.string(),
                                     code ? " and cannot be made: " + code.message() : ""));
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> found;
    struct Close {
        void operator()(DIR* folder) const { ::closedir(folder); }
    };
    const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
    if (!open) return found;
    while (const dirent* entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") found.push_back(folder / name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool rename_to_new(const fs::path& from, const fs::path& to) {
    int code = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
    if (code != 0 && errno == EINVAL) {  // some network file systems do not know this flag
        if (is_there(to)) return false;
        code = std::rename(from.c_str(), to.c_str());
    }
    if (code == 0) return true;
    if (errno == EEXIST) return false;
    throw database_error(
        fmt::format("{}: cannot be renamed to {}: {}", from.string(), to.string(), std::strerror(errno)));
}

FolderBeside::FolderBeside(const fs::path& file) {
    // mkdtemp(3) demands six of this letter at the end and puts others in their place.
    std::string name = file.string() + ".new-" + std::string(6, 'X');
    if (::mkdtemp(name.data())) path_ = name;
}

FolderBeside::~FolderBeside() {
    try {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    } catch (...) {
        // No memory to list it: an empty folder is left.
    }
}

std::optional<std::string_view> network_file_system(unsigned long magic) {
    for (const auto& known : kNetworkFileSystems) {
        if (known.number == magic) return known.name;
    }
    return std::nullopt;
}

fs::path resolved(const fs::path& path) {
    constexpr int kMostLinks = 40;  // as the system has it
    std::error_code failed;
    fs::path out = fs::absolute(path, failed);
    if (failed) return path;
    for (int i = 0; i < kMostLinks && fs::is_symlink(out, failed); ++i) {
        const fs::path target = fs::read_symlink(out, failed);
        if (failed) break;
        out = out.parent_path() / target;
    }
    const fs::path whole = fs::weakly_canonical(out, failed);
    return failed ? out : whole;
}

std::optional<std::string_view> network_file_system_of(const fs::path& path) {
    struct statfs info {};
    const fs::path folder = resolved(path).parent_path();
    if (::statfs(folder.c_str(), &info) != 0) return std::nullopt;
    // Some magics have the sign bit of a 32-bit f_type.
    return network_file_system(static_cast<unsigned long>(info.f_type) & 0xffffffffUL);
}

bool is_there(const fs::path& path) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (!fs::status_known(status)) throw database_error(unreachable_complaint(path, failed));
    return fs::exists(status);
}

std::optional<std::string> not_a_file_complaint(const fs::path& path, bool may_create) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (!fs::status_known(status)) return unreachable_complaint(path, failed);
    if (!fs::exists(status)) {
        if (may_create) return std::nullopt;
        return path.string() + ": no such database; `gnntune tune --db` creates one";
    }
    if (fs::is_directory(status)) return path.string() + ": expected a gnntune database, found a folder";
    if (!fs::is_regular_file(status)) return path.string() + ": expected a gnntune database, found no regular file";
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
        return path.string() + ": the database may not be read by this user";
    }
    return std::nullopt;
}

std::optional<std::string> not_sqlite_complaint(const fs::path& path, std::string_view head, bool may_create) {
    head = head.substr(0, kSqliteHeadBytes);
    if (head == std::string_view("SQLite format 3\0", kSqliteHeadBytes)) return std::nullopt;
    if (head.empty()) {
        if (may_create) return std::nullopt;
        return path.string() + ": expected a gnntune database, found an empty file";
    }
    return path.string() + ": expected a gnntune database (SQLite), found " + std::string(what_starts_with(head));
}

}  // namespace gnntune::store
