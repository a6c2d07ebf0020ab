// Weights are float32 whatever a file holds: what that loses, and what it refuses.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/io/graph_io.hpp"

namespace gnntune::io::detail {

/// Whole numbers up to here are exact in float32.
inline constexpr float kExactWhole = 16777216.0f;

/// Counts the weights that are no longer what they were. Digits behind those that float32 holds are rounded in nearly
/// every file and not counted.
struct WeightLoss {
    std::int64_t rounded = 0;   ///< whole numbers that are others now
    std::int64_t vanished = 0;  ///< numbers that are 0 now

    /// Of the number at `p` up to `end`, that was read as `value`.
    void count(const char* p, const char* end, float value) {
        if (value == 0.0f || std::fabs(value) >= kExactWhole) look_at_text(p, end, value);
    }
    template <typename From>
    void count(From from, float value) {
        if constexpr (std::is_integral_v<From> && sizeof(From) >= 4) {
            rounded +=
                std::fabs(value) >= kExactWhole && static_cast<long double>(from) != static_cast<long double>(value);
        } else if constexpr (std::is_same_v<From, double>) {
            vanished += value == 0.0f && from != 0.0;
            rounded += is_other_whole(from, value);
        }
    }
    void tell(FixUps& done) const {
        done.rounded_weights = rounded;
        done.vanished_weights = vanished;
    }

private:
    /// A double beyond 2^53 is no count of anything.
    static bool is_other_whole(double from, float value) {
        return std::fabs(from) >= kExactWhole && std::fabs(from) <= 0x1p53 && from == std::trunc(from) &&
               from != static_cast<double>(value);
    }
    void look_at_text(const char* p, const char* end, float value);
};

/// Whether the text at `p` up to `end` is a whole number, such as 7, -7.0 or 7e3.
bool is_whole(const char* p, const char* end);

/// Why parse_weight() refuses what stands at `p`, of a text that ends at `end`: "expected a finite weight as third
/// column, found 'nan'". `place` is where it stands; `found`, quoted, what to show.
std::string why_no_weight(std::string_view noun, std::string_view place, const char* p, const char* end,
                          const std::string& found);

}  // namespace gnntune::io::detail
