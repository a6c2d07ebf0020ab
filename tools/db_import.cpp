// gnntune db import: a database of a JSON document.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "core/common/error.hpp"
#include "core/io/file.hpp"
#include "profiles/document.hpp"
#include "tools/db.hpp"
#include "tools/exit_code.hpp"
#include "tools/merge_into.hpp"

namespace gnntune::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsage = "gnntune db import [options] FILE|- [DB]";

/// A database built beside the one that it is for, and gone with this.
class Imported {
public:
    Imported(const std::string& file, const fs::path& target)
        : path_(fmt::format("{}.importing-{}", target.string(), ::getpid())) {
        const bool is_stdin = file == "-";
        io::FileReader reader(is_stdin ? "/dev/stdin" : file);
        store::import_document([&reader](char* to, std::size_t n) { return reader.read(to, n); },
                               is_stdin ? "stdin" : file, path_);
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
               count("model"), std::int64_t{0}, std::int64_t{0}, std::int64_t{0}});
    return table;
}

}  // namespace

int run_db_import(const Args& args) {
    Options options("db import",
                    {kUsage,
                     "Makes a database of a JSON document of `gnntune db export`, `-` is stdin. If the database "
                     "exists, what the document holds is taken into it as by `gnntune db merge`. A document that is "
                     "wrong changes nothing.",
                     {"gnntune db import cora.json cora.db", "gnntune db import colleague.json.xz --db user.db",
                      "gnntune db export --db a.db | gnntune db import - copy.db"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, 2, kUsage);
    const bool named = parsed->arguments.size() == 2;
    if (named && parsed->common.db) throw invalid_argument("give the database once: as DB, or with --db");
    const std::string& file = parsed->arguments.front();
    const fs::path target = named ? fs::path(parsed->arguments[1]) : parsed->common.database_path();

    Output out("db.import", parsed->common);
    store::require_folder(target);
    const Imported imported(file, target);
    if (!fs::exists(target) && store::rename_to_new(imported.path(), target)) {
        out.print(all_of(store::Store::open(target, store::Mode::read_only), file));
        return kExitOk;
    }
    store::Store store =
        store::Store::open(target, store::Mode::read_write_create,
                           {store::Journal::automatic, [&out](const std::string& sentence) { out.warn(sentence); }});
    const MergeSource source{imported.path(), file};
    out.print(merge_into(store, {&source, 1}, parsed->common, out));
    return kExitOk;
}

}  // namespace gnntune::tools
