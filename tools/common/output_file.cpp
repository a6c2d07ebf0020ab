#include "tools/common/output_file.hpp"

#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "core/common/error.hpp"

namespace gnntune::tools {
namespace {

namespace fs = std::filesystem;

/// Of regular files only: to open a pipe would wait for its other end.
bool is_sqlite(const fs::path& path) {
    constexpr std::string_view kHead("SQLite format 3\0", 16);
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return false;
    std::array<char, kHead.size()> head{};
    std::ifstream file(path, std::ios::binary);
    return file.read(head.data(), head.size()) && std::string_view(head.data(), head.size()) == kHead;
}

}  // namespace

void require_no_database(const fs::path& path, const CommonOptions& common) {
    if (path == "-") return;
    std::error_code ignored;
    const fs::path database = common.known_database_path();
    if (!database.empty() && fs::equivalent(path, database, ignored)) {
        throw invalid_argument(path.string() + " is the database itself; give another file");
    }
    if (is_sqlite(path)) {
        throw invalid_argument(path.string() + " is an SQLite database, which would be lost; give another file");
    }
    // Its log may hold what the database does not, and a foreign one damages it.
    const fs::path target = fs::weakly_canonical(path, ignored);
    const std::string name = ignored ? path.string() : target.string();
    for (const std::string_view suffix : {"-wal", "-shm", "-journal"}) {
        if (!name.ends_with(suffix)) continue;
        const std::string owner = name.substr(0, name.size() - suffix.size());
        if (is_sqlite(owner)) {
            throw invalid_argument(path.string() + " belongs to the database " + owner + "; give another file");
        }
    }
}

}  // namespace gnntune::tools
