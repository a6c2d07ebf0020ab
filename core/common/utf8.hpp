// Whether bytes are text.
#pragma once

#include <string_view>

namespace gnntune {

/// Whether `text` is UTF-8: no overlong form, no half of a surrogate pair. Thread-safe.
bool is_utf8(std::string_view text);

}  // namespace gnntune
