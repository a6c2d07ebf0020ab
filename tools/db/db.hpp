// The parts of `gnntune db`, one file each.
#pragma once

#include "tools/common/verb.hpp"

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

}  // namespace gnntune::tools
