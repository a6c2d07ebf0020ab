// The structs of gnntune.h in the project's own words: every enumeration and default is translated here.
#pragma once

#include "core/include/gnntune/gnntune.h"
#include "profiles/library/context.hpp"
#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// Both throw ErrorKind::invalid_argument in words for values that gnntune.h does not list.
OpenRequest open_request(const char* db_path, const gnntune_open_options& options);
Request plan_request(const gnntune_problem& problem);
/// Likewise; `field` is whose value it is.
DType dtype_of(const char* field, gnntune_dtype dtype);
/// Whether ids or offsets are of 64 bits, likewise.
bool is_wide(const char* field, gnntune_index type);

}  // namespace gnntune::library
