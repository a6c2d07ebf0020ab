// Constants of a device, measured once and kept in the store: what the roofline and `doctor` use.
#pragma once

#include <functional>
#include <string>

#include "core/model/roofline.hpp"
#include "core/registry/device.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::tuner {

/// Measures the copy rate and the gather table of a CUDA device (about two seconds and 4 GiB of its memory) and stores
/// them under its environment. `say` receives a line per figure. Throws ErrorKind::no_device for the CPU.
DeviceConstants measure_device_constants(const Device& device, store::Store& store,
                                         const std::function<void(const std::string&)>& say);

}  // namespace gnntune::tuner
