// How a file is opened: distrusted, with patience for locks and for statements. Included by database.cpp and connect.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/database/database.hpp"

namespace gnntune::store::detail {

/// Not the time of day: a machine under load, or a slow disk, makes no statement endless.
std::chrono::nanoseconds thread_time();

/// The one place where SQLite's result codes become exceptions.
void check(const Connection& connection, int code, std::string_view doing);
[[noreturn]] void fail(const Connection& connection, int code, std::string_view doing);

/// Device and inode; nothing if there is no such file.
std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::filesystem::path& path);

std::shared_ptr<Connection> connect(const std::filesystem::path& path, Access access);
/// Of the file, or what else, that a URI names; `path` is what messages call it.
std::shared_ptr<Connection> connect_to(const std::filesystem::path& path, const std::string& uri, int flags);
/// For Access::untouched. To read a log SQLite makes an index of it beside the file, if there is none.
std::shared_ptr<Connection> connect_untouched(const std::filesystem::path& path, Access& access);

/// The first bytes of the file, at most `count`. Read through SQLite: locks of fcntl(2) belong to the process, and
/// whoever opens and closes the file by other means drops those of every other connection that this process has to it.
std::string head_of(const Connection& connection, std::size_t count);
/// First real read of the file: SQLite opens lazily, so this is where a bad file or folder shows.
int touch(Connection& connection);

}  // namespace gnntune::store::detail
