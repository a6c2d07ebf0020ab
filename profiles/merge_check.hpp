// Whether a database may be taken into another. Inside profiles/ only.
#pragma once

#include <filesystem>

#include "profiles/store.hpp"

namespace gnntune::store {

/// Throws ErrorKind::database, with the first fault, if the rows of the database attached as `other`, which is the file
/// `from`, are not all as `gnntune db check` expects them. Models whose bytes are damaged are no fault here. To be called
/// inside the transaction that takes them in.
void refuse_faults(const Database& database, const std::filesystem::path& from, const ConfigCheck& check);

}  // namespace gnntune::store
