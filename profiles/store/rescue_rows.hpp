// Rows of a rescued database that nobody can use. Inside profiles/ only.
#pragma once

#include "profiles/database/database.hpp"

namespace gnntune::store {

/// Removes the rows whose fields `gnntune db check` finds fault with: words of later versions, times that are none,
/// numbers out of range, configs and problems that do not parse. A field that may be empty is emptied, and a problem gets
/// its own text. Rows that name them stay, and dangle. Foreign keys are off.
void remove_unreadable_rows(const Database& database);

}  // namespace gnntune::store
