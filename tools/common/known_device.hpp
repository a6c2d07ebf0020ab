// A processor that databases know, which need not be in this machine: what models are asked about.
#pragma once

#include <span>
#include <string>

#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/options.hpp"

namespace gnntune::tools {

/// That of the models of the first database that has any: a GPU's where it has both. `--device` comes first.
Backend backend_of_models(std::span<const store::Store> layers, const Parsed& parsed);

/// The newest of the first database that has one of that backend whose name holds `text`, in any case. Throws
/// ErrorKind::input in words if none has.
Environment device_named(std::span<const store::Store> layers, const std::string& text, Backend backend);

}  // namespace gnntune::tools
