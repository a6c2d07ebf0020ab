// Whether a database may be taken into another. Inside profiles/ only.
#pragma once

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// Throws ErrorKind::database, with the first fault, if the database attached as `other`, which is the file of `from`, has
/// rows that are not as `gnntune db check` expects them, or triggers and indices of somebody else on gnntune's tables. Models whose bytes are damaged are no fault here. To be called
/// inside the transaction that takes them in.
void refuse_faults(const Database& database, const Store& from, const ConfigCheck& check);

}  // namespace gnntune::store
