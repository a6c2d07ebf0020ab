// From the JSON values of a record to the columns of its row.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiles/database/database.hpp"
#include "profiles/fields/fields.hpp"
#include "profiles/fields/json_value.hpp"

namespace gnntune::store {

/// What is wrong with a record, thrown by those who take it; the reader adds where it stands.
class RecordError : public std::exception {
public:
    /// `field` is a path inside the record, ".median_us" or ".part[0].config", or empty.
    RecordError(std::string field, std::string words) : field_(std::move(field)), words_(std::move(words)) {}
    const char* what() const noexcept override { return words_.c_str(); }
    const std::string& field() const { return field_; }

private:
    std::string field_;
    std::string words_;
};

/// The member of that name, or null.
const JsonValue* member_of(const JsonValue& object, std::string_view name);

/// A member for each field; null where it is missing or `null`. Throws RecordError at `path` if one is missing that may
/// not be, and for a member that is neither a field nor one of `children`.
std::vector<const JsonValue*> members_of(const JsonValue& record, std::span<const Field> fields,
                                         std::span<const ChildTable> children, const std::string& path);

/// Appends the columns of a field that names no other record. Throws RecordError at `path` if the value is not what the
/// field takes.
void append_columns(std::vector<SqlValue>& columns, const Field& field, const JsonValue& value,
                    const std::string& path);

/// The text or number by which records name each other. Throws RecordError at `path`.
std::string name_of(const Field& field, const JsonValue& value, const std::string& path);

}  // namespace gnntune::store
