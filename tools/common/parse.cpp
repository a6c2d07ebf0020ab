#include "tools/common/parse.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "core/common/error.hpp"
#include "core/common/numbers.hpp"

namespace gnntune::tools {
namespace {

struct Unit {
    std::string_view word;
    double factor;
};

constexpr std::array kTimeUnits{Unit{"ms", 1e-3}, Unit{"s", 1}, Unit{"m", 60}, Unit{"min", 60}, Unit{"h", 3600}};
constexpr std::array kByteUnits{
    Unit{"", 1},        Unit{"B", 1},         Unit{"K", 1024}, Unit{"KiB", 1024},     Unit{"kB", 1e3},
    Unit{"M", 1048576}, Unit{"MiB", 1048576}, Unit{"MB", 1e6}, Unit{"G", 1073741824}, Unit{"GiB", 1073741824},
    Unit{"GB", 1e9}};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes a decimal number without sign or exponent off the front of `rest`.
bool take_number(std::string_view& rest, double& value) {
    std::size_t length = 0;
    while (length < rest.size() && (is_digit(rest[length]) || rest[length] == '.')) ++length;
    const auto result = std::from_chars(rest.data(), rest.data() + length, value, std::chars_format::fixed);
    if (length == 0 || result.ec != std::errc() || result.ptr != rest.data() + length) return false;
    rest.remove_prefix(length);
    return true;
}

std::string_view take_word(std::string_view& rest) {
    std::size_t length = 0;
    while (length < rest.size() && !is_digit(rest[length])) ++length;
    const std::string_view word = rest.substr(0, length);
    rest.remove_prefix(length);
    return word;
}

}  // namespace

std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t minimum, std::int64_t maximum) {
    const auto value = parse_number<std::int64_t>(text);
    if (value && *value >= minimum && *value <= maximum) return *value;
    std::string range = "a whole number";
    if (minimum != INT64_MIN && maximum != INT64_MAX) {
        range += fmt::format(" from {} to {}", minimum, maximum);
    } else if (minimum != INT64_MIN) {
        range += fmt::format(" of at least {}", minimum);
    }
    throw invalid_argument(fmt::format("{}: expected {}, not '{}'", what, range, text));
}

double parse_real(std::string_view text, std::string_view what, double minimum, double maximum) {
    const auto value = parse_number<double>(text);
    if (value && *value >= minimum && *value <= maximum) return *value;
    throw invalid_argument(fmt::format("{}: expected a number from {} to {}, not '{}'", what, minimum, maximum, text));
}

double parse_duration_s(std::string_view text, std::string_view what) {
    double total = 0;
    bool good = !text.empty();
    for (std::string_view rest = text; good && !rest.empty();) {
        double value = 0;
        good = take_number(rest, value);
        const std::string_view word = take_word(rest);
        if (good && word.empty() && rest.empty() && total == 0) {
            total = value;
            break;
        }
        bool known = false;
        for (const Unit& unit : kTimeUnits) {
            if (word != unit.word) continue;
            total += value * unit.factor;
            known = true;
        }
        good = good && known;
    }
    if (!good || !(total > 0)) {
        throw invalid_argument(fmt::format("{}: expected a duration such as 30s, 5m or 1h30m, not '{}'", what, text));
    }
    return total;
}

std::string duration_text(double seconds) {
    if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::int64_t parse_bytes(std::string_view text, std::string_view what) {
    std::string_view rest = text;
    double value = 0;
    if (take_number(rest, value)) {
        for (const Unit& unit : kByteUnits) {
            if (rest == unit.word && value * unit.factor < 9e18) return std::llround(value * unit.factor);
        }
    }
    throw invalid_argument(fmt::format("{}: expected a size such as 50MiB, 1GB or 4096, not '{}'", what, text));
}

std::string bytes_text(std::int64_t bytes) {
    constexpr std::array<const char*, 4> kNames{"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < kNames.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, kNames[unit]);
}

std::vector<std::string> split_list(std::string_view text, std::string_view what) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (end == begin) {
            throw invalid_argument(fmt::format("{}: expected words with commas between them, not '{}'", what, text));
        }
        words.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

Device parse_device(std::string_view text, std::string_view what) {
    if (text.empty()) return cuda_device_count() > 0 ? cuda_device(0) : cpu_device();
    if (text == "cpu") return cpu_device();
    if (text == "cuda") return cuda_device(0);
    if (text.starts_with("cuda:")) {
        return cuda_device(static_cast<int>(parse_integer(text.substr(5), fmt::format("{} cuda:N", what), 0, 1023)));
    }
    throw invalid_argument(fmt::format("{}: expected cpu, cuda or cuda:N, not '{}'", what, text));
}

}  // namespace gnntune::tools
