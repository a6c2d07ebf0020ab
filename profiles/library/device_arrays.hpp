// Checks and narrowing of arrays that lie in device memory. All functions work on the legacy default stream of the
// current device and synchronise.
#pragma once

#include <cstdint>

#include "core/graph/types.hpp"
#include "core/registry/device.hpp"

namespace gnntune::library {

/// Whether the kernels of this build run on the device: its architecture may not have been compiled for.
bool has_code_for(const Device& device);

/// Throws ErrorKind::invalid_argument if CUDA knows `data` as memory of another device, or does not know it at all.
/// Null is let through.
void require_device_pointer(const char* name, const void* data, const Device& device);

/// out[i] = wide[i]. Throws ErrorKind::unsupported naming the first value that does not fit.
void narrow_on_device(const char* name, const std::int64_t* wide, std::int64_t size, std::int32_t* out);

/// As validate() of core/graph/convert.hpp, for device views, at memory speed.
void validate_on_device(const CsrView& csr);
void validate_on_device(const CooView& coo);

}  // namespace gnntune::library
