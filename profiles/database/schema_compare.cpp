#include "profiles/database/schema_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kComparing = "comparing its schema";

/// A row of sqlite_schema.
struct SchemaObject {
    std::string type;
    std::string name;
    std::string table;  ///< that it is, or belongs to
    std::string sql;    ///< empty for what SQLite makes by itself
};
/// By name in small letters: SQLite does not tell capitals.
using SchemaObjects = std::map<std::string, SchemaObject>;

std::string in_small_letters(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

SchemaObjects objects_of(const Database& database) {
    SchemaObjects objects;
    Statement s = database.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_schema", kComparing);
    while (s.step()) objects[in_small_letters(s.view(1))] = {s.text(0), s.text(1), s.text(2), s.text(3)};
    return objects;
}

SchemaObjects objects_made_by(std::span<const Migration> scripts) {
    const Database database = Database::in_memory();
    for (const Migration& script : scripts) database.execute(std::string(script.sql), kComparing);
    return objects_of(database);
}

/// What the scripts up to `version` make. Kept for those of this build.
std::shared_ptr<const SchemaObjects> expected_objects(std::span<const Migration> migrations, std::int64_t version) {
    const auto beyond = std::find_if(migrations.begin(), migrations.end(),
                                     [&](const Migration& script) { return script.version > version; });
    const auto scripts = migrations.first(static_cast<std::size_t>(beyond - migrations.begin()));
    if (migrations.data() != shipped_migrations().data()) {
        return std::make_shared<const SchemaObjects>(objects_made_by(scripts));
    }
    // Never destroyed: threads may ask while static objects are.
    static auto& mutex = *new std::mutex;
    static auto& kept = *new std::map<std::size_t, std::shared_ptr<const SchemaObjects>>;
    const std::lock_guard lock(mutex);
    auto& objects = kept[scripts.size()];
    if (!objects) objects = std::make_shared<const SchemaObjects>(objects_made_by(scripts));
    return objects;
}

bool is_same_object(const SchemaObject& found, const SchemaObject& expected) {
    if (found.type != expected.type || in_small_letters(found.table) != in_small_letters(expected.table)) return false;
    return found.sql == expected.sql || plain_definition(found.sql) == plain_definition(expected.sql);
}

/// Of SQLite itself: statistics, counters.
bool is_of_sqlite(std::string_view name) {
    return name.starts_with("sqlite_");
}

/// Whether an index refuses rows, or computes something for each.
bool index_does_more(const Database& database, const SchemaObject& index) {
    Statement s = database.prepare(
        R"(SELECT 1 FROM pragma_index_list(?1) AS list WHERE list.name = ?2 AND (list."unique" OR list.partial OR
           EXISTS (SELECT 1 FROM pragma_index_info(?2) AS place WHERE place.cid = -2)))",
        kComparing);
    return s.bind(index.table, index.name).step();
}

}  // namespace

std::string plain_definition(std::string_view sql) {
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
    };
    std::string out;
    const auto add = [&](std::string_view token) {
        if (!out.empty() && is_word(out.back()) && is_word(token.front())) out += ' ';
        out += token;
    };
    for (std::size_t at = 0; at < sql.size();) {
        const char c = sql[at];
        std::size_t end = at + 1;
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        } else if (sql.substr(at, 2) == "--") {
            end = std::min(sql.find('\n', at), sql.size());
        } else if (sql.substr(at, 2) == "/*") {
            const std::size_t close = sql.find("*/", at + 2);
            end = close == std::string_view::npos ? sql.size() : close + 2;
        } else if (c == '\'' || c == '"' || c == '`' || c == '[') {
            const char close = c == '[' ? ']' : c;
            // A quote inside is doubled: that reads as two texts, one behind the other.
            end = std::min(sql.find(close, at + 1), sql.size() - 1) + 1;
            const std::string_view inside = sql.substr(at + 1, std::max(end, at + 2) - at - 2);
            const bool is_plain = c != '\'' && !inside.empty() && std::all_of(inside.begin(), inside.end(), is_word);
            add(is_plain ? in_small_letters(inside) : std::string(sql.substr(at, end - at)));
        } else if (is_word(c)) {
            while (end < sql.size() && is_word(sql[end])) ++end;
            add(in_small_letters(sql.substr(at, end - at)));
        } else {
            add(sql.substr(at, 1));
        }
        at = end;
    }
    return out;
}

SchemaReport compare_schema(const Database& database, std::span<const Migration> migrations) {
    SchemaReport report;
    const SchemaObjects found = objects_of(database);
    if (found.empty()) return report;
    const auto expected = expected_objects(migrations, database.integer("PRAGMA user_version", kComparing));
    for (const auto& [name, object] : *expected) {
        const auto there = found.find(name);
        const std::string what = object.type + " " + object.name;
        if (there == found.end()) {
            // Those go with their table.
            if (!is_of_sqlite(name)) report.broken.push_back(fmt::format("the {} is missing", what));
        } else if (there->second.type != object.type) {
            report.broken.push_back(fmt::format("the {} is a {}", what, there->second.type));
        } else if (!is_same_object(there->second, object)) {
            report.broken.push_back(fmt::format("the {} is not as gnntune makes it", what));
        } else if (object.type == "table") {
            report.tables.push_back(object.name);
        }
    }
    std::shared_ptr<const SchemaObjects> known;  // of all schemas; files of gnntune alone need none
    for (const auto& [name, object] : found) {
        if (expected->contains(name) || is_of_sqlite(name)) continue;
        if (!known) known = expected_objects(migrations, schema_version(migrations));
        const std::string what = object.type + " " + object.name;
        const bool is_part = object.type == "index" || object.type == "trigger";
        if (known->contains(name)) {
            report.broken.push_back(fmt::format("the {} belongs to a later schema than the file says it has", what));
        } else if (!is_part) {
            report.beside.push_back(what);
            report.has_other_tables = report.has_other_tables || object.type == "table";
        } else if (const auto owner = expected->find(in_small_letters(object.table)); owner == expected->end()) {
            // Hangs on a table or view of somebody else.
        } else if (object.type == "trigger") {
            report.alien.push_back(
                fmt::format("the trigger {} on {} is not gnntune's: gnntune does not run it, other programs do; remove "
                            "it with DROP TRIGGER",
                            object.name, object.table));
        } else if (index_does_more(database, object)) {
            report.broken.push_back(
                fmt::format("the index {} on {} is not gnntune's, and may keep rows out", object.name, object.table));
        } else {
            report.alien.push_back(fmt::format("the index {} on {} is not gnntune's; remove it with DROP INDEX",
                                               object.name, object.table));
        }
    }
    return report;
}

void require_schema(const Database& database, std::span<const Migration> migrations) {
    const ReadTransaction reading(database);  // its number and its tables of one state
    const SchemaReport report = compare_schema(database, migrations);
    if (report.broken.empty()) return;
    const std::string path = database.path().string();
    const std::size_t more = report.broken.size() - 1;
    throw database_error(fmt::format(
        "{}: {}{}, so that nothing in it is believed; restore a copy, or save its rows: gnntune db rescue {} FILE",
        path, report.broken.front(), more == 0 ? "" : fmt::format(", with {} more (gnntune db check)", more),
        shell_quoted(path)));
}

std::vector<std::string> check_statements(const SchemaReport& report, std::string_view pragma, int limit) {
    if (!report.has_other_tables) return {fmt::format("PRAGMA {}({})", pragma, limit)};
    std::vector<std::string> statements;
    for (const std::string& table : report.tables) statements.push_back(fmt::format("PRAGMA {}('{}')", pragma, table));
    return statements;
}

}  // namespace gnntune::store
