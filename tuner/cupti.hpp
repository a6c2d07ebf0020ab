// CUPTI's errors. Inside tuner/ only.
#pragma once

#include <cupti.h>

#include <string>

#include "core/common/error.hpp"
#include "core/gpu/late_library.hpp"

namespace gnntune::tuner {

/// CUPTI. Its functions are called under the names of its headers (late_cupti.cpp).
LateLibrary& cupti_library();

[[noreturn]] inline void throw_cupti(CUptiResult status, const char* call) {
    if (status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
        status == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) {
        throw Error(
            ErrorKind::no_device,
            "this user may not read hardware counters: run as root (in a container with CAP_SYS_ADMIN), or load "
            "the nvidia module with NVreg_RestrictProfilingToAdminUsers=0");
    }
    const char* text = "unknown error";
    (void)cuptiGetResultString(status, &text);
    throw Error(ErrorKind::unsupported, std::string("CUPTI refuses: ") + call + " failed with " + text);
}

}  // namespace gnntune::tuner

/// Evaluates a CUPTI call and throws gnntune::Error with its text if it fails.
#define GNNTUNE_CUPTI(call)                                                                                    \
    do {                                                                                                       \
        const CUptiResult gnntune_cupti_status = (call);                                                       \
        if (gnntune_cupti_status != CUPTI_SUCCESS) ::gnntune::tuner::throw_cupti(gnntune_cupti_status, #call); \
    } while (0)
