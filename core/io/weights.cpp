#include "core/io/detail/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/io/detail/numbers.hpp"

namespace gnntune::io::detail {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

const char* skip_sign(const char* p) {
    return p + (*p == '+' || *p == '-');
}

double as_double(const char* p, const char* end) {
    return std::strtod(std::string(p, end).c_str(), nullptr);
}

}  // namespace

void WeightLoss::look_at_text(const char* p, const char* end, float value) {
    if (value == 0.0f) {
        const char* const exponent = std::find_if(p, end, [](char c) { return c == 'e' || c == 'E'; });
        vanished += std::any_of(p, exponent, [](char c) { return c >= '1' && c <= '9'; });
        return;
    }
    std::uint64_t digits = 0;
    const auto [rest, error] = std::from_chars(skip_sign(p), end, digits);
    if (error == std::errc{} && rest == end) {
        rounded += static_cast<long double>(digits) != std::fabs(static_cast<long double>(value));
    } else {
        rounded += is_other_whole(as_double(p, end), value);
    }
}

bool is_whole(const char* p, const char* end) {
    if (std::all_of(skip_sign(p), end, is_digit)) return true;
    const double value = as_double(p, end);
    return value == std::trunc(value);
}

std::string why_no_weight(std::string_view noun, std::string_view place, const char* p, const char* end,
                          const std::string& found) {
    double value = 0;
    const char* const digits = skip_sign(p);
    const auto [rest, error] = std::from_chars(digits, end, value);
    // What is no float is a number all the same, and no "inf" or "nan".
    const bool number = error != std::errc::invalid_argument && (is_digit(*digits) || *digits == '.');
    if (number && (error == std::errc::result_out_of_range || std::fabs(value) > 3.4e38)) {
        return fmt::format(
            "expected a {} that float32 holds {}, up to 3.4e38, found {}; scale the weights, or give --ignore-weights",
            noun, place, found);
    }
    return fmt::format("expected a finite {} {}, found {}", noun, place, found);
}

}  // namespace gnntune::io::detail
