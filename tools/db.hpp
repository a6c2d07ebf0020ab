// The parts of `gnntune db`, one file each.
#pragma once

#include "profiles/store/store.hpp"
#include "tools/output.hpp"
#include "tools/verb.hpp"

namespace gnntune::tools {

int run_db_ls(const Args& args);
int run_db_show(const Args& args);
int run_db_sql(const Args& args);
int run_db_check(const Args& args);
int run_db_diff(const Args& args);
int run_db_merge(const Args& args);
int run_db_prune(const Args& args);
int run_db_rescue(const Args& args);
int run_db_export(const Args& args);
int run_db_import(const Args& args);
int run_db_verify(const Args& args);
int run_db_errata(const Args& args);

/// The database of --db for reading. Throws ErrorKind::database in words if it is missing or no gnntune database.
store::Store open_for_reading(const CommonOptions& common, Output& out);

}  // namespace gnntune::tools
