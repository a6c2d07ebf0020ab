// Constants of a device as the store has them: what rooflines and cost models start from.
#pragma once

#include "core/model/roofline.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {

/// Constants stored for this environment, or for the newest one with the same device name; empty if there are none.
DeviceConstants stored_device_constants(const Store& store, const Environment& environment);

}  // namespace gnntune::store
