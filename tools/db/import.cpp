// gnntune db import: a database of a JSON document.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "core/io/file.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/document/document.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tools/db/db.hpp"
#include "tools/db/merge_into.hpp"

namespace gnntune::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImportUsage = "gnntune db import [options] FILE|- [DB]";

constexpr std::string_view kImporting = ".importing-";

/// Removes what imports into `target` have left that were killed: files with the number of a process that is gone. On a
/// network file system the process may be on another host, so that they stay.
void remove_left_behind(const fs::path& target) {
    if (store::network_file_system_of(target)) return;
    const std::string begin = target.filename().string() + std::string(kImporting);
    const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
    std::error_code failed;
    std::vector<fs::path> left;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(begin)) continue;
        pid_t process = 0;
        const char* const digits = name.data() + begin.size();
        const auto [stop, error] = std::from_chars(digits, name.data() + name.size(), process);
        // Behind the number there may be the name of a side file, or of the folder that the database is made in.
        if (error != std::errc() || process <= 0 || (*stop != '\0' && *stop != '-' && *stop != '.')) continue;
        if (process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH)) left.push_back(at->path());
    }
    for (const fs::path& path : left) fs::remove_all(path, failed);
}

/// Of a regular file only: what is read of a pipe is gone.
bool is_database(const std::string& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    constexpr std::string_view kSqlite("SQLite format 3\0", 16);
    std::string head(kSqlite.size(), '\0');
    std::ifstream(file, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    return head == kSqlite;
}

/// A database built beside the one that it is for, and gone with this.
class Imported {
public:
    Imported(const std::string& file, const fs::path& target)
        : path_(fmt::format("{}{}{}", target.string(), kImporting, ::getpid())) {
        remove_left_behind(target);
        const bool is_stdin = file == "-";
        if (!is_stdin && is_database(file)) {
            throw input_error(
                fmt::format("{}: a database, not a document; take it in with: gnntune db merge {} --db {}", file,
                            shell_quoted(file), shell_quoted(target.string())));
        }
        io::FileReader reader(is_stdin ? "/dev/stdin" : file);
        store::import_document([&reader](char* to, std::size_t n) { return reader.read(to, n); },
                               is_stdin ? "stdin" : file, path_, merge_check);
    }
    Imported(const Imported&) = delete;
    Imported& operator=(const Imported&) = delete;
    ~Imported() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// What merging into an empty database would have told.
Table all_of(const store::Store& store, const std::string& file) {
    const auto count = [&store](const std::string& table) {
        return store.database().integer("SELECT count(*) FROM " + table, "counting rows");
    };
    Table table = merge_table();
    table.add({file, count("measurement"), std::int64_t{0}, count("graph"), count("environment"), count("run"),
               count("model"), std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, count("erratum")});
    return table;
}

}  // namespace

int run_db_import(const Args& args) {
    Options options("db import",
                    {kImportUsage,
                     "Makes a database of a JSON document of `gnntune db export`, `-` is stdin. If the database "
                     "exists, what the document holds is taken into it as by `gnntune db merge`. A document that is "
                     "wrong changes nothing.",
                     {"gnntune db import cora.json cora.db", "gnntune db import colleague.json.xz --db user.db",
                      "gnntune db export --db a.db | gnntune db import - copy.db"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, 2, kImportUsage);
    const bool named = parsed->arguments.size() == 2;
    if (named && parsed->common.db) throw invalid_argument("give the database once: as DB, or with --db");
    const std::string& file = parsed->arguments.front();
    const fs::path target = named ? fs::path(parsed->arguments[1]) : parsed->common.database_path();

    Output out("db.import", parsed->common);
    store::require_folder(target);
    const Imported imported(file, target);
    if (!store::is_there(target) && store::rename_to_new(imported.path(), target)) {
        const store::Store made = store::Store::open(target, store::Mode::read_only);
        for (const std::string& doubt : made.doubts()) out.warn(file + ": " + doubt);
        out.print(all_of(made, file));
        return kExitOk;
    }
    store::Store store = open_store(target, store::Mode::read_write_create, out);
    const MergeSource source{imported.path(), file};
    merge_into(store, {&source, 1}, {}, parsed->common, out);
    return kExitOk;
}

}  // namespace gnntune::tools
