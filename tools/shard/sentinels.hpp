// Whether the GPUs of several processes are the same fast: each times the same three problems first.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gnntune::tools::shard {

/// Median times of one process's device.
struct Sentinels {
    int rank = 0;
    std::string host;
    std::string device;  ///< its name, and the UUID of a GPU
    double launch_us = 0;
    double cache_us = 0;
    double memory_us = 0;
    std::optional<int> sm_clock_mhz;  ///< the least of them
};

std::string to_json(const Sentinels& sentinels);
/// Nothing for what is no such text.
std::optional<Sentinels> sentinels_from(const std::string& json);

/// In which of the three problems `one` is off the median of the others by more than `margin`, and by more than a clock
/// can be off by, in a sentence; empty if in none, or if there are no others.
std::string off_words(const Sentinels& one, const std::vector<Sentinels>& others, double margin);

}  // namespace gnntune::tools::shard
