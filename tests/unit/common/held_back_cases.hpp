// Errata and what they hold back, for `gnntune tune` and tune_on_miss alike: spmm with k = 8 on a CPU.
#pragma once

#include <array>
#include <string>

#include "core/registry/config.hpp"

namespace gnntune::test {

struct HeldBackCase {
    const char* condition;
    bool (*covers)(const Config&);
};

inline bool is_with(const Config& config, const std::string& param, const std::string& value) {
    const std::string* found = config.params.find(param);
    return found && *found == value;
}

inline const std::array<HeldBackCase, 5> kHeldBackCases{{
    {"variant=spmm.cpu_edges", [](const Config& c) { return c.variant == "spmm.cpu_edges"; }},
    {"variant=spmm.cpu_rows param.tile=16",
     [](const Config& c) { return c.variant == "spmm.cpu_rows" && is_with(c, "tile", "16"); }},
    {"variant=spmm.cpu_rows k>=8 k<=8", [](const Config& c) { return c.variant == "spmm.cpu_rows"; }},
    {"variant=spmm.eigen version<=1000", [](const Config& c) { return c.variant == "spmm.eigen"; }},
    {"op=spmm backend=cpu m<=3", [](const Config&) { return false; }},
}};

}  // namespace gnntune::test
