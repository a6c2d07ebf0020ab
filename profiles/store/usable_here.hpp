// Which measurements count for this build. Inside profiles/ only.
#pragma once

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// Makes the temporary table `counting`, a row for each variant that was measured: `id`, and `version`, the one that
/// counts. That is the one that this build has, or for variants of other builds the newest that was measured.
void count_versions(const Database& database, const VersionHere& version_here);

/// Makes that, and the temporary view `usable_here`: measurements that are ok, the last of their attempts, of the version
/// that counts, and so are their parts. The view `usable` of the file goes by the versions that stand in it.
void make_usable_here(const Database& database, const VersionHere& version_here);

}  // namespace gnntune::store
