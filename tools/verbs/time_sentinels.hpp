// The three problems that each of several processes times first (tools/shard/sentinels.hpp).
#pragma once

#include <functional>

#include "core/registry/device.hpp"
#include "tools/shard/sentinels.hpp"

namespace gnntune::tools {

/// Times of the default config: of a graph that costs little but the launch, of one whose features fit the last cache, and
/// of one whose features do not. About two seconds on a GPU. A time that could not be had is 0.
shard::Sentinels time_sentinels(const Device& device, Clock clock, int rank, const std::function<bool()>& stop);

}  // namespace gnntune::tools
