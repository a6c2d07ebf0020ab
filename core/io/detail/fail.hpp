// Raising an error about a file: "NAME: words" or "NAME line 17: words".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/printable.hpp"

namespace gnntune::io::detail {

template <typename... Args>
[[noreturn]] void fail(const std::string& name, fmt::format_string<Args...> words, Args&&... args) {
    throw input_error(name + ": " + fmt::format(words, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_line(const std::string& name, std::uint64_t line, fmt::format_string<Args...> words,
                            Args&&... args) {
    throw input_error(fmt::format("{} line {}: ", name, line) + fmt::format(words, std::forward<Args>(args)...));
}

/// The system's words for a value of errno.
inline std::string system_words(int error) {
    return std::error_code(error, std::generic_category()).message();
}

/// Up to `limit` bytes of a text from outside, such as a name from an archive, and no part of a character.
inline std::string printable(std::string_view text, std::size_t limit = 60) {
    if (text.size() <= limit) return gnntune::printable(text);
    std::size_t end = limit;
    while (end > 0 && limit - end < 3 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return gnntune::printable(text.substr(0, end)) + "...";
}

/// What stands at `p`, quoted for a message: up to 32 bytes of the line. The text must hold a newline at or after `p`.
inline std::string quoted(const char* p) {
    std::size_t length = 0;
    while (length < 36 && p[length] != '\n' && p[length] != '\r') ++length;
    if (length == 0) return "the end of the line";
    std::string_view text(p, length);
    if (length > 32) {
        text = text.substr(0, 32);
        while (text.size() > 29 && (static_cast<unsigned char>(p[text.size()]) & 0xc0U) == 0x80U) text.remove_suffix(1);
    }
    return "'" + gnntune::printable(text) + "'";
}

}  // namespace gnntune::io::detail
