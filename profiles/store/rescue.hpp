// What can be read of a damaged database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gnntune::store {

struct RescuedTable {
    std::string name;
    std::int64_t rows = 0;     ///< in the new file
    std::int64_t orphans = 0;  ///< read, and left out because a row that they name is lost
    bool whole = true;         ///< no page of it was unreadable and no row broke the schema
};

/// Copies every readable row of `damaged` to a new database `target`, around the pages that SQLite cannot read, and
/// leaves out rows that name others which are lost and choices without a measurement. `damaged` is only read. A bit
/// that flipped inside a number cannot be noticed unless the schema forbids the value. Throws ErrorKind::database if
/// `target` exists or cannot be written (nothing is left under its name then), or if of `damaged` not even the first
/// page is that of a gnntune database of this schema.
std::vector<RescuedTable> rescue(const std::filesystem::path& damaged, const std::filesystem::path& target);

}  // namespace gnntune::store
