// Graphs of about the same shape, for those that are too short-lived to be known one by one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace gnntune {

/// Shapes that are planned alike: binary orders of magnitude, 0 for none. Mean degree and density follow from the
/// sizes.
struct Bucket {
    int n_rows = 0;
    int n_cols = 0;
    int m = 0;
    int longest_row = 0;  ///< -1 if nobody has counted
    auto operator<=>(const Bucket&) const = default;

    /// "1024..2047 x 1024..2047, 8192..16383 edges, longest row 64..127"
    std::string text() const;
};

/// `longest_row` in edges; negative if nobody has counted.
Bucket bucket_of(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, std::int64_t longest_row);

}  // namespace gnntune
