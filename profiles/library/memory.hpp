// Where a context's formats, converted graphs and plans lie: the application's allocator, or plain memory of the
// backend.
#pragma once

#include <cstddef>
#include <memory>

#include "core/common/memory_source.hpp"
#include "core/include/gnntune/gnntune.h"
#include "core/registry/device.hpp"

namespace gnntune::library {

/// The callbacks of gnntune_open_options as a source. What they return is checked: NULL is ErrorKind::out_of_memory,
/// memory that is not aligned as it was asked for ErrorKind::runtime.
std::shared_ptr<MemorySource> callback_memory(gnntune_alloc_function alloc, gnntune_free_function free, void* user);

inline MemoryKind memory_kind(const Device& device) {
    return device.backend == Backend::cuda ? MemoryKind::device : MemoryKind::host;
}

}  // namespace gnntune::library
