#include "profiles/store/check_fields.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/utf8.hpp"
#include "profiles/fields/fields.hpp"
#include "profiles/fields/values.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kChecking = "checking fields";
constexpr std::int64_t kMostNamed = 20;  // rows with the same fault

bool is_looked_at(std::string_view table, const Field& field) {
    switch (field.type) {
        case FieldType::word:  // of a problem and of an erratum a sentence of their own says more
            return table != "problem" && (table != "erratum" || field.name != "condition");
        case FieldType::instant:
        case FieldType::integer:
        case FieldType::real:
        case FieldType::error:
        case FieldType::json_object:
        case FieldType::configs:
            return true;
        default:
            return false;
    }
}

/// As the document would have it.
JsonValue value_of(const Field& field, const Statement& row, int column) {
    JsonValue value;
    switch (field.type) {
        case FieldType::integer:
            value.kind = JsonValue::Kind::integer;
            value.integer = row.integer(column);
            return value;
        case FieldType::real:
        case FieldType::error:
            value.real = row.real(column);
            value.kind = std::isfinite(value.real) ? JsonValue::Kind::real : JsonValue::Kind::text;
            value.text = std::isfinite(value.real) ? row.text(column) : value.real > 0 ? "Infinity" : "-Infinity";
            return value;
        case FieldType::json_object:
        case FieldType::configs:
            return parse_json(row.view(column));
        default:
            value.kind = JsonValue::Kind::text;
            value.text = row.text(column);
            if (!is_utf8(value.text)) throw RecordError("", "it is not UTF-8");
            return value;
    }
}

/// Why the field would be refused; empty if it would not.
std::string complaint(const Field& field, const Statement& row, int column) {
    if (field.may_lack && row.is_null(column)) return {};
    std::vector<SqlValue> ignored;
    try {
        append_columns(ignored, field, value_of(field, row, column), "");
    } catch (const RecordError& error) {
        return error.what();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

SqlValue bound_value(const Statement& row, int column) {
    if (row.is_null(column)) return nullptr;
    if (row.is_integer(column)) return row.integer(column);
    if (row.is_real(column)) return row.real(column);
    return row.text(column);
}

/// The rows of a section, or of a child table of it. `key` is the column that names a row of the section; if it is empty,
/// the place in the order does, as it does in a document.
void look_at_table(const Database& database, const Section& section, const ChildTable* child, std::string_view key,
                   const std::string& rest, const std::function<void(const BadField&)>& take) {
    const std::string_view table = child ? child->name : section.name;
    std::vector<Field> fields;
    for (const Field& field : child ? child->fields : section.fields) {
        if (is_looked_at(table, field)) fields.push_back(field);
    }
    if (fields.empty() || !database.has_table(table)) return;
    Statement row = database.prepare(
        fmt::format("SELECT {}, {} FROM {} {}", key.empty() ? "0" : key, columns_of(fields), table, rest), kChecking);
    for (std::int64_t place = 1; row.step(); ++place) {
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const int column = static_cast<int>(f) + 1;
            std::string words = complaint(fields[f], row, column);
            if (words.empty()) continue;
            take({section, child, fields[f], key.empty() ? place : row.integer(0), bound_value(row, column),
                  std::move(words)});
        }
    }
}

}  // namespace

void for_each_bad_field(const Database& database, const std::function<void(const BadField&)>& take) {
    for (const Section& section : document_sections()) {
        look_at_table(
            database, section, nullptr, section.has_id ? "id" : "",
            fmt::format("{} ORDER BY {}", section.has_id ? "" : section.joins, section.has_id ? "id" : section.order),
            take);
        for (const ChildTable& child : section.children) {
            look_at_table(database, section, &child, child.parent,
                          fmt::format("ORDER BY {}, {}", child.parent, child.order), take);
        }
    }
}

void find_bad_fields(const Database& database, std::vector<std::string>& problems) {
    std::map<std::pair<std::string_view, std::string_view>, std::int64_t> count;  // of rows, by table and field
    for_each_bad_field(database, [&](const BadField& bad) {
        if (++count[{bad.table(), bad.field.name}] > kMostNamed) return;
        problems.push_back(fmt::format("{}row {} of {}, {}: {}",
                                       bad.child ? fmt::format("{} of ", bad.child->name) : "", bad.key,
                                       bad.section.name, bad.field.name, bad.words));
    });
    for (const auto& [place, rows] : count) {
        if (rows > kMostNamed) {
            problems.push_back(
                fmt::format("{} rows of {} more whose {} is wrong", rows - kMostNamed, place.first, place.second));
        }
    }
}

}  // namespace gnntune::store
