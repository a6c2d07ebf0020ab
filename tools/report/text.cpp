#include "tools/report/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/common/printable.hpp"
#include "core/common/utf8.hpp"

namespace gnntune::tools::report {
namespace {

/// `text` with a comma before each third digit from the end; `text` is digits alone.
std::string grouped(std::string text) {
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

/// Digits behind the point that leave three significant ones.
int digits_of(double value) {
    const double size = std::abs(value);
    if (size >= 99.95) return 0;
    if (size >= 9.995) return 1;
    return size >= 0.9995 || size == 0 ? 2 : 3;
}

constexpr std::array<const char*, 3> kTimeUnits{" µs", " ms", " s"};
constexpr std::array<const char*, 4> kCountUnits{"", " k", " M", " G"};

template <std::size_t n>
std::string with_unit(double value, std::string (*words)(double), const std::array<const char*, n>& units) {
    std::size_t unit = 0;
    while (std::abs(value) >= 999.5 && unit + 1 < n) {
        value /= 1e3;
        ++unit;
    }
    return words(value) + units[unit];
}

}  // namespace

std::string escaped(std::string_view text) {
    const std::string plain = printable(text);
    std::string out;
    out.reserve(plain.size());
    std::string_view rest = plain;
    while (!rest.empty()) {
        // U+FFFE and U+FFFF are characters of UTF-8 and none of XML.
        if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
            out += rest[2] == '\xBE' ? "\\uFFFE" : "\\uFFFF";
            rest.remove_prefix(3);
            continue;
        }
        switch (rest.front()) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += rest.front();
        }
        rest.remove_prefix(1);
    }
    return out;
}

std::size_t characters(std::string_view text) {
    std::size_t n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    return n;
}

std::string shortened(std::string_view text, std::size_t most) {
    std::string plain = printable(text);
    if (characters(plain) <= most) return plain;
    std::size_t at = 0;
    for (std::size_t n = 0; n + 1 < most && at < plain.size(); ++n) {
        at += std::max<std::size_t>(1, utf8_length(std::string_view(plain).substr(at)));
    }
    return plain.substr(0, at) + "…";
}

std::string px(double value) {
    std::string text = fmt::format("{:.1f}", std::isfinite(value) ? value : 0.0);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text == "-0" ? "0" : text;
}

std::string number(double value) {
    if (!std::isfinite(value)) return "–";
    if (std::abs(value) < 999.5) return fmt::format("{:.{}f}", value, digits_of(value));
    const std::string text = fmt::format("{:.0f}", std::abs(value));
    return (value < 0 ? "-" : "") + (text.size() > 15 ? fmt::format("{:.3g}", std::abs(value)) : grouped(text));
}

std::string tick(double value) {
    std::string text = number(value);
    if (text.find('.') == std::string::npos) return text;
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string time(double us) {
    return with_unit(us, number, kTimeUnits);
}
std::string tick_time(double us) {
    return with_unit(us, tick, kTimeUnits);
}

std::string bytes(double value) {
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < std::size(kUnits)) {
        value /= 1024;
        ++unit;
    }
    const std::string text =
        unit == 0 || std::abs(value - std::round(value)) < 0.005 ? fmt::format("{:.0f}", value) : number(value);
    return text + " " + kUnits[unit];
}

std::string count(double value) {
    return std::abs(value) < 999.5 ? fmt::format("{:.0f}", std::abs(value) < 0.5 ? 0.0 : value)
                                   : with_unit(value, number, kCountUnits);
}
std::string tick_count(double value) {
    return with_unit(value, tick, kCountUnits);
}

std::string whole(std::int64_t value) {
    const std::string text = std::to_string(value);
    return value < 0 ? "-" + grouped(text.substr(1)) : grouped(text);
}

std::string factor(double ratio) {
    return number(ratio) + "×";
}

std::string tick_factor(double ratio) {
    return tick(ratio) + "×";
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", std::abs(share) < 0.005 ? 0.0 : 100 * share);
}

std::string some(std::size_t n, std::string_view what) {
    std::string out = whole(static_cast<std::int64_t>(n)) + " " + std::string(what);
    if (n == 1) return out;
    return out.ends_with("y") ? out.substr(0, out.size() - 1) + "ies" : out + "s";
}

}  // namespace gnntune::tools::report
