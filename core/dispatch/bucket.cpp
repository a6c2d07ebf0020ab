#include "core/dispatch/bucket.hpp"

#include <bit>

namespace gnntune {
namespace {

int order_of(std::int64_t count) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
}

std::string range(int order) {
    if (order <= 1) return std::to_string(order);
    return std::to_string(std::uint64_t{1} << (order - 1)) + ".." + std::to_string((std::uint64_t{1} << order) - 1);
}

}  // namespace

std::string Bucket::text() const {
    std::string text = range(n_rows) + " x " + range(n_cols) + ", " + range(m) + " edges";
    if (longest_row >= 0) text += ", longest row " + range(longest_row);
    return text;
}

Bucket bucket_of(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, std::int64_t longest_row) {
    return {order_of(n_rows), order_of(n_cols), order_of(m), longest_row < 0 ? -1 : order_of(longest_row)};
}

}  // namespace gnntune
