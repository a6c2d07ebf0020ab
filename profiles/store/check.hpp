// What is wrong with the rows of a database, in words. Inside profiles/ only.
#pragma once

#include <string>
#include <vector>

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// A sentence for each fault of the rows; empty if they are sound. Of models only their fields are looked at. Tables are
/// named without a schema, so that a connection may put others in their places (merge_check.cpp). Errors of SQLite stand
/// among the sentences.
std::vector<std::string> faults_of_rows(const Database& database, const ConfigCheck& check);

/// Store::errata()
std::vector<ErratumRow> read_errata(const Database& database);

}  // namespace gnntune::store
