// What stands in the fields of rows and no writer gives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/database/database.hpp"
#include "profiles/fields/fields.hpp"

namespace gnntune::store {

/// A field that `gnntune db import` would refuse.
struct BadField {
    const Section& section;
    const ChildTable* child = nullptr;  ///< the table whose field it is; null: the section's own
    const Field& field;
    std::int64_t key = 0;  ///< the row of the section; of those without `id` its place in their order
    SqlValue value;
    std::string words;

    std::string_view table() const { return child ? child->name : section.name; }
};
/// Throws ErrorKind::database if the file cannot be read.
void for_each_bad_field(const Database& database, const std::function<void(const BadField&)>& take);

/// Appends a sentence for each field that `gnntune db import` refuses as it stands (profiles/fields/fields.hpp), with
/// its row: times that are none, unknown words, numbers out of range, JSON of the wrong kind. Configs, fingerprints,
/// problems and conditions of errata are looked at by others. Throws ErrorKind::database if the file cannot be read.
void find_bad_fields(const Database& database, std::vector<std::string>& problems);

}  // namespace gnntune::store
