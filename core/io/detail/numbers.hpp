// Numbers out of text. Every text ends in '\n' and has eight readable bytes behind any character (LineReader).
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace gnntune::io::detail {

static_assert(std::endian::native == std::endian::little, "the number parser and the file formats are little-endian");

inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return p;
}

/// Behind the '\n' that ends this line.
inline const char* skip_line(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
}

/// Reads a whole number without sign; null where there is none or where it has over 18 digits.
inline const char* parse_id(const char* p, std::uint64_t& value) {
    // Eight characters at once. Digits become 0..9; the lowest byte that is none tells how many digits there are.
    std::uint64_t x;
    std::memcpy(&x, p, 8);
    x ^= 0x3030303030303030ull;
    const std::uint64_t other = ((x + 0x7676767676767676ull) | x) & 0x8080808080808080ull;
    const int digits = std::countr_zero(other) >> 3;  // 8 where all are digits
    if (digits == 0) return nullptr;
    // Shifted up, the missing characters are leading zeros; then pairs, fours and eights of digits are joined.
    x <<= 64 - 8 * digits;
    x = (x * 10 + (x >> 8)) & 0x00ff00ff00ff00ffull;
    x = (x * 100 + (x >> 16)) & 0x0000ffff0000ffffull;
    value = (x * 10000 + (x >> 32)) & 0xffffffffull;
    p += digits;
    if (digits < 8) return p;
    for (int more = 0; *p >= '0' && *p <= '9'; ++p) {
        if (++more > 10) return nullptr;
        value = value * 10 + static_cast<std::uint64_t>(*p - '0');
    }
    return p;
}

/// Reads a finite number that a float holds; null for anything else ("nan", "inf", "1e99", "abc").
/// Numbers too small for a float become 0 or a denormal.
inline const char* parse_weight(const char* p, const char* end, float& value) {
    if (*p == '+' && p[1] != '-') ++p;
    const auto [rest, error] = std::from_chars(p, end, value);
    if (error == std::errc{}) return std::isfinite(value) ? rest : nullptr;
    if (error != std::errc::result_out_of_range) return nullptr;
    const std::string token(p, rest);
    const double wide = std::strtod(token.c_str(), nullptr);
    if (!(std::fabs(wide) < 1.0)) return nullptr;
    value = static_cast<float>(wide);
    return rest;
}

}  // namespace gnntune::io::detail
