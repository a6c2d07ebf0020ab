// A whole database as one JSON document, and back: text that can be read, compared and kept under version control.
// docs/database.md ("As JSON") describes it. Writing what was read gives the same bytes.
//
// Errors: ErrorKind::input in words, with the line and the record, for a document that is not what that page says;
// ErrorKind::database for a file that cannot be read or written, and for rows that `Store::check` would complain of and
// that no document can hold.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// Takes the next bytes.
using ByteSink = std::function<void(std::string_view bytes)>;

/// Writes everything that the store holds, in one state of it: that of the open transaction, if there is one. Needs
/// memory for one row and the names of graphs and problems.
void write_document(const Store& store, const ByteSink& sink);

/// Copies up to `n` bytes to `to` and returns how many; 0 at the end only.
using ByteSource = std::function<std::size_t(char* to, std::size_t n)>;

/// Adds the rows of a document to a database of the present schema that has no rows. `name` stands in messages. Needs
/// memory for one record, the names of graphs and problems, and a number for each record. The caller has a transaction
/// open, and rolls it back if this throws.
void load_document(const ByteSource& source, const std::string& name, const Database& empty,
                   const ConfigCheck& check = {});

/// Makes the new database `target` of a document; it is complete on the disk when this returns, and does not exist if
/// this throws. Throws ErrorKind::database also if `target` exists.
void import_document(const ByteSource& source, const std::string& name, const std::filesystem::path& target,
                     const ConfigCheck& check = {});

}  // namespace gnntune::store
