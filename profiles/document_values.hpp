// From the JSON values of a record to the columns of its row.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiles/database.hpp"
#include "profiles/document_fields.hpp"
#include "profiles/json_value.hpp"

namespace gnntune::store {

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
