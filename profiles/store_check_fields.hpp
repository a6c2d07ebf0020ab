// What stands in the fields of rows and no writer gives.
#pragma once

#include <string>
#include <vector>

#include "profiles/database.hpp"

namespace gnntune::store {

/// Appends a sentence for each field that `gnntune db import` refuses as it stands (profiles/document_fields.hpp), with
/// its row: times that are none, unknown words, numbers out of range, JSON of the wrong kind. Configs, fingerprints,
/// problems and conditions of errata are looked at by others. Throws ErrorKind::database if the file cannot be read.
void find_bad_fields(const Database& database, std::vector<std::string>& problems);

}  // namespace gnntune::store
