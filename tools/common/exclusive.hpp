// Having a GPU to oneself while times are taken.
#pragma once

#include <optional>

#include "tools/common/options.hpp"
#include "tools/common/output.hpp"
#include "tuner/measuring/device_lock.hpp"

namespace gnntune::tools {

/// Adds --no-wait.
void add_exclusive_options(Options& options);

/// The lock of a CUDA device, to be kept while times are taken: says on stderr which process it waits for, and warns of
/// other processes on the GPU. Call it before anything is made on the device. Nothing for the CPU, where no file can be
/// locked (with a warning), and if Ctrl-C ended the waiting (interrupted()). Throws ErrorKind::no_device with --no-wait
/// if another process has it.
std::optional<tuner::DeviceLock> exclusive(const Device& device, const Parsed& parsed, Output& out);

}  // namespace gnntune::tools
