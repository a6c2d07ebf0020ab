// Whether bytes are text.
#pragma once

#include <cstddef>
#include <string_view>

namespace gnntune {

/// Bytes of the UTF-8 sequence at the front of `text`: 0 if it is none, or if there is no text. Thread-safe.
std::size_t utf8_length(std::string_view text);

/// Whether `text` is UTF-8: no overlong form, no half of a surrogate pair. Thread-safe.
bool is_utf8(std::string_view text);

}  // namespace gnntune
