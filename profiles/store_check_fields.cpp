#include "profiles/store_check_fields.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/utf8.hpp"
#include "profiles/document_fields.hpp"
#include "profiles/document_read.hpp"
#include "profiles/document_values.hpp"

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

/// The rows of one table.
class TableCheck {
public:
    TableCheck(const Database& database, std::string_view table, std::span<const Field> fields,
               std::vector<std::string>& problems)
        : database_(database), table_(table), problems_(problems) {
        for (const Field& field : fields) {
            if (is_looked_at(table, field)) fields_.push_back(field);
        }
    }

    /// `key` is the column that names a row, a row of `owner`; if it is empty, the place in the order does, as it does
    /// in a document.
    void run(std::string_view key, std::string_view owner, std::string_view joins, std::string_view order) {
        if (fields_.empty() || !database_.has_table(table_)) return;
        Statement row = database_.prepare(fmt::format("SELECT {}, {} FROM {} {} ORDER BY {}", key.empty() ? "0" : key,
                                                      columns_of(fields_), table_, joins, order),
                                          kChecking);
        for (std::int64_t place = 1; row.step(); ++place) {
            for (std::size_t f = 0; f < fields_.size(); ++f) {
                const std::string words = complaint(fields_[f], row, static_cast<int>(f) + 1);
                if (words.empty()) continue;
                const std::int64_t number = key.empty() ? place : row.integer(0);
                add(fields_[f],
                    owner == table_ ? fmt::format("row {} of {}", number, table_)
                                    : fmt::format("{} of row {} of {}", table_, number, owner),
                    words);
            }
        }
        for (const auto& [field, count] : count_) {
            if (count > kMostNamed) {
                problems_.push_back(
                    fmt::format("{} rows of {} more whose {} is wrong", count - kMostNamed, table_, field));
            }
        }
    }

private:
    void add(const Field& field, const std::string& where, const std::string& words) {
        if (++count_[field.name] > kMostNamed) return;
        problems_.push_back(fmt::format("{}, {}: {}", where, field.name, words));
    }

    const Database& database_;
    std::string_view table_;
    std::vector<std::string>& problems_;
    std::vector<Field> fields_;
    std::map<std::string_view, std::int64_t> count_;  // of rows, by field
};

}  // namespace

void find_bad_fields(const Database& database, std::vector<std::string>& problems) {
    for (const Section& section : document_sections()) {
        TableCheck(database, section.name, section.fields, problems)
            .run(section.has_id ? "id" : "", section.name, section.has_id ? "" : section.joins,
                 section.has_id ? "id" : section.order);
        for (const ChildTable& child : section.children) {
            TableCheck(database, child.name, child.fields, problems)
                .run(child.parent, section.name, "", fmt::format("{}, {}", child.parent, child.order));
        }
    }
}

}  // namespace gnntune::store
