// Histogram of a degree array, shared by the host and the device counting of features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gnntune {

/// (degree, number of entries with it), ascending, zero counts left out. `degree` is host memory, [n], none negative.
std::vector<std::pair<std::int32_t, std::int64_t>> degree_histogram(const std::int32_t* degree, std::size_t n);

}  // namespace gnntune
