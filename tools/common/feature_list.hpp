// The features of a graph as a list of names, values and units: for tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "core/features/features.hpp"
#include "tools/common/table.hpp"

namespace gnntune::tools {

struct NamedFeature {
    std::string name;  ///< key in CSV, JSON and the store: "degree_mean"
    Cell value;
    std::string unit;  ///< "edges", "rows", "" for a ratio
    std::string help;  ///< one line, no full stop
};

/// Every feature but the degree histograms, in the order in which a person should read them.
std::vector<NamedFeature> list_features(const Features& features);

/// Rows (or columns) whose degree lies in [first, last]: 0, 1, 2-3, 4-7, 8-15, ...
struct DegreeBin {
    std::int32_t first = 0;
    std::int32_t last = 0;
    std::int64_t count = 0;  ///< rows
    std::int64_t edges = 0;  ///< edges of those rows
};
/// From degree 0 up to the largest one; bins without rows are kept.
std::vector<DegreeBin> degree_bins(const std::vector<std::pair<std::int32_t, std::int64_t>>& degrees);

}  // namespace gnntune::tools
