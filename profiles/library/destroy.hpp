// What the C interface frees.
#pragma once

#include "profiles/library/abi.hpp"
#include "profiles/library/device_guard.hpp"

namespace gnntune::library {

/// Deletes what a context made. Freeing device memory wants its device current; a destroy function has nobody to report to.
template <typename Handle>
void destroy(Handle* handle) {
    if (!handle) return;
    const auto context = handle->context;
    guarded([&] {
        const DeviceGuard guard(context->device);
        delete handle;
    });
}

}  // namespace gnntune::library
