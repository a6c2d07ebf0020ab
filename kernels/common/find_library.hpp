// Whether a library that some variants call is installed.
#pragma once

#include "core/gpu/late_library.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// Refuses where the library is nowhere. Does not load it where a look at the file system will do.
inline Verdict find_library(LateLibrary& library) {
    if (!library.location().empty()) return Verdict::yes();
    return Verdict::no(library.name() +
                       " was found neither beside the CUDA runtime nor by the loader; install it, or set "
                       "LD_LIBRARY_PATH to its folder");
}

}  // namespace gnntune::kernels
