/* The table of layout.def as a C compiler sees it, and the initialisers as C has them. Compiled by packaging.headers, as
 * C11 for the sake of _Static_assert. */
#include <gnntune/gnntune.h>

typedef void* pointer;

#define STRUCT(name, bytes) _Static_assert(sizeof(name) == (bytes), #name " does not have " #bytes " bytes");
#define FIELD(name, field, offset, type)                                                       \
    _Static_assert(offsetof(name, field) == (offset), #name "." #field " is not at " #offset); \
    _Static_assert(sizeof(((name*)0)->field) == sizeof(type), #name "." #field " is no " #type);
#include "layout.def"

const gnntune_open_options options = GNNTUNE_OPEN_OPTIONS_INIT;
const gnntune_csr csr = GNNTUNE_CSR_INIT;
const gnntune_coo coo = GNNTUNE_COO_INIT;
const gnntune_problem problem = GNNTUNE_PROBLEM_INIT;
const gnntune_operands operands = GNNTUNE_OPERANDS_INIT;
const gnntune_tiling tiling = GNNTUNE_TILING_INIT;
