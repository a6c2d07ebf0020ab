// Numbers as text, and back.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace gnntune {

/// The number that `text` is from its first character to its last, as std::from_chars reads it: no blanks, no '+', no
/// locale. Nothing if it is something else or out of T's range. Thread-safe.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

/// A count that is kept as a double, for people: without decimals as far as doubles count in ones. Thread-safe.
std::string count_text(double count);

}  // namespace gnntune
