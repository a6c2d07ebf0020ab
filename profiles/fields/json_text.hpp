// How texts, numbers and bytes stand in JSON. Canonical: one way to write each value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gnntune::store {

/// Appends a JSON string: UTF-8 as it is, escapes where JSON asks for them only. `text` must be UTF-8.
void append_json_text(std::string& out, std::string_view text);

/// Appends the shortest digits that read back as the same double; `value` must be finite. Minus zero is zero, as in
/// SQLite.
void append_json_real(std::string& out, double value);

/// Appends base64 (RFC 4648, with padding).
void append_base64(std::string& out, std::string_view bytes);
/// The bytes of base64 text in the one form that append_base64() gives; nothing for other text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace gnntune::store
