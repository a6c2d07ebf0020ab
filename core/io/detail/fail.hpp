// Raising an error about a file: "NAME: words" or "NAME line 17: words".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/common/error.hpp"

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

/// What stands at `p`, quoted for a message: up to 32 characters of the line, unprintable ones as '?'.
/// The text must hold a newline at or after `p`.
inline std::string quoted(const char* p) {
    std::string out = "'";
    for (int i = 0; i < 32 && *p != '\n' && *p != '\r'; ++i, ++p) out += (*p >= 0x20 && *p < 0x7f) ? *p : '?';
    return out == "'" ? "the end of the line" : out + '\'';
}

/// The same of a whole text, such as a name from an archive.
inline std::string printable(std::string_view text, std::size_t limit = 60) {
    std::string out;
    for (const char c : text.substr(0, limit)) out += (c >= 0x20 && c < 0x7f) ? c : '?';
    return text.size() > limit ? out + "..." : out;
}

}  // namespace gnntune::io::detail
