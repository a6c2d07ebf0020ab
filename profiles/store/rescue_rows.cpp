#include "profiles/store/rescue_rows.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiles/store/check_fields.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kLeavingOut = "leaving out rows that cannot be read";

/// A statement with its values, for when all have been looked at.
struct RowRemoval {
    std::string sql;
    std::vector<SqlValue> values;
};

RowRemoval removal_of(const BadField& bad) {
    const std::string_view field = bad.field.name;
    const std::string_view section = bad.section.name;
    if (bad.child) {
        // Without one of its parts a measurement says something else, and a step without one of its calls.
        if (bad.child->has_position) return {fmt::format("DELETE FROM {} WHERE id = ?", section), {bad.key}};
        return {fmt::format("DELETE FROM {} WHERE {} = ? AND {} IS ?", bad.child->name, bad.child->parent, field),
                {bad.key, bad.value}};
    }
    const std::string where = bad.section.has_id ? "id = ?" : fmt::format("{} IS ?", field);
    const SqlValue value = bad.section.has_id ? SqlValue(bad.key) : bad.value;
    if (bad.field.may_lack && section != "measurement") {
        return {fmt::format("UPDATE {} SET {} = NULL WHERE {}", section, field, where), {value}};
    }
    return {fmt::format("DELETE FROM {} WHERE {}", section, where), {value}};
}

void find_bad_rows_of_graphs(const Database& database, std::vector<RowRemoval>& removals) {
    Statement row = database.prepare("SELECT id, fingerprint FROM graph", kLeavingOut);
    while (row.step()) {
        const auto fingerprint = Fingerprint::parse(row.view(1));
        if (fingerprint && fingerprint->text() == row.view(1)) continue;
        removals.push_back({"DELETE FROM graph WHERE id = ?", {row.integer(0)}});
    }
}

void find_bad_rows_of_problems(const Database& database, std::vector<RowRemoval>& removals) {
    Statement row = database.prepare(fmt::format("SELECT id, text, {} FROM problem", kProblemColumns), kLeavingOut);
    while (row.step()) {
        try {
            std::string text = to_text(read_problem(row, 2));
            if (text == row.view(1)) continue;
            removals.push_back({"UPDATE problem SET text = ? WHERE id = ?", {std::move(text), row.integer(0)}});
        } catch (const Error&) {
            removals.push_back({"DELETE FROM problem WHERE id = ?", {row.integer(0)}});
        }
    }
}

void find_bad_rows_of_configs(const Database& database, std::vector<RowRemoval>& removals) {
    constexpr std::pair<const char*, const char*> kTables[] = {
        {"accuracy_call",
         "DELETE FROM accuracy WHERE id IN (SELECT accuracy_id FROM accuracy_call WHERE config = ? AND variant = ?)"},
        {"measurement", "DELETE FROM measurement WHERE config = ? AND variant = ?"},
        {"choice", "DELETE FROM choice WHERE config = ? AND variant = ?"},
        {"part",
         "DELETE FROM measurement WHERE id IN (SELECT measurement_id FROM part WHERE config = ? AND variant = ?)"},
        {"step_call",
         "DELETE FROM step_choice WHERE id IN (SELECT step_choice_id FROM step_call WHERE config = ? AND variant = "
         "?)"}};
    for (const auto& [table, removal] : kTables) {
        Statement row = database.prepare(fmt::format("SELECT DISTINCT config, variant FROM {}", table), kLeavingOut);
        while (row.step()) {
            try {
                const Config config = Config::parse(row.view(0));
                if (config.variant == row.view(1) && config.text() == row.view(0)) continue;
            } catch (const Error&) {
                // It goes.
            }
            removals.push_back({removal, {row.text(0), row.text(1)}});
        }
    }
}

}  // namespace

void remove_unreadable_rows(const Database& database) {
    std::vector<RowRemoval> removals;
    for_each_bad_field(database, [&removals](const BadField& bad) { removals.push_back(removal_of(bad)); });
    find_bad_rows_of_graphs(database, removals);
    find_bad_rows_of_problems(database, removals);
    find_bad_rows_of_configs(database, removals);
    for (const RowRemoval& removal : removals) {
        database.prepare(removal.sql, kLeavingOut).bind_values(removal.values).run();
    }
}

}  // namespace gnntune::store
