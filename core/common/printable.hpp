// Text of others for a terminal: names of files, graphs and devices, reasons, whatever a database or a file may hold.
#pragma once

#include <string>
#include <string_view>

namespace gnntune {

/// `text` as one line in which nothing moves a cursor, starts a control sequence, ends the line, turns text round or
/// hides: control characters of ASCII and bytes that are no UTF-8 become \xNN, other such characters \uNNNN or
/// \UNNNNNNNN (C1, marks and isolates of direction, separators of lines and paragraphs, what is invisible). What is
/// printable stays as it is, so a second time changes nothing.
std::string printable(std::string_view text);

/// JSON text with the same characters as escapes of JSON: the same value. Line ends between its tokens stay; a byte
/// that is no UTF-8 becomes U+FFFD.
std::string printable_json(std::string_view json);

}  // namespace gnntune
