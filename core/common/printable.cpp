#include "core/common/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/common/utf8.hpp"

namespace gnntune {
namespace {

struct CodePoints {
    std::uint32_t first;
    std::uint32_t last;
};

/// Control and format characters of Unicode, but for those that writing needs: U+200C and U+200D join letters.
constexpr std::array kHidden{
    CodePoints{0x00, 0x1f},        // C0
    CodePoints{0x7f, 0x9f},        // DEL, C1
    CodePoints{0x61c, 0x61c},      // Arabic letter mark
    CodePoints{0x180e, 0x180e},    // Mongolian vowel separator
    CodePoints{0x200b, 0x200b},    // zero width space
    CodePoints{0x200e, 0x200f},    // marks of direction
    CodePoints{0x2028, 0x202e},    // separators of lines and paragraphs, embeddings and overrides of direction
    CodePoints{0x2060, 0x206f},    // word joiner, invisible operators, isolates of direction
    CodePoints{0xfeff, 0xfeff},    // byte order mark
    CodePoints{0xfff9, 0xfffb},    // annotations
    CodePoints{0xe0000, 0xe007f},  // tags
};

bool is_hidden(std::uint32_t code_point) {
    return std::any_of(kHidden.begin(), kHidden.end(), [code_point](const CodePoints& range) {
        return code_point >= range.first && code_point <= range.last;
    });
}

/// Of one sequence of UTF-8.
std::uint32_t code_point_of(std::string_view sequence) {
    const auto byte = [&sequence](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
    if (sequence.size() == 1) return byte(0);
    std::uint32_t code_point = byte(0) & (0x7fU >> sequence.size());
    for (std::size_t i = 1; i < sequence.size(); ++i) code_point = code_point << 6 | (byte(i) & 0x3fU);
    return code_point;
}

void append_hex(std::string& out, std::uint32_t value, int digits) {
    for (int d = digits - 1; d >= 0; --d) out += "0123456789abcdef"[value >> (4 * d) & 0xfU];
}

/// Appends what is no hidden character and hands the others to `escape`; bytes that are no UTF-8 to `escape_byte`.
template <typename Escape, typename EscapeByte>
std::string escaped(std::string_view text, const Escape& escape, const EscapeByte& escape_byte) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            escape_byte(out, static_cast<unsigned char>(text.front()));
            text.remove_prefix(1);
            continue;
        }
        const std::uint32_t code_point = code_point_of(text.substr(0, length));
        if (is_hidden(code_point)) {
            escape(out, code_point);
        } else {
            out.append(text.substr(0, length));
        }
        text.remove_prefix(length);
    }
    return out;
}

void append_byte(std::string& out, std::uint32_t byte) {
    out += "\\x";
    append_hex(out, byte, 2);
}

void append_json_escape(std::string& out, std::uint32_t code_point) {
    const auto unit = [&out](std::uint32_t value) {
        out += "\\u";
        append_hex(out, value, 4);
    };
    if (code_point < 0x10000) {
        unit(code_point);
    } else {
        unit(0xd800 + ((code_point - 0x10000) >> 10));
        unit(0xdc00 + ((code_point - 0x10000) & 0x3ff));
    }
}

}  // namespace

std::string printable(std::string_view text) {
    const auto escape = [](std::string& out, std::uint32_t code_point) {
        if (code_point < 0x80) {
            append_byte(out, code_point);
        } else {
            out += code_point < 0x10000 ? "\\u" : "\\U";
            append_hex(out, code_point, code_point < 0x10000 ? 4 : 8);
        }
    };
    return escaped(text, escape, append_byte);
}

std::string printable_json(std::string_view json) {
    const auto escape = [](std::string& out, std::uint32_t code_point) {
        if (code_point == '\n') {
            out += '\n';
        } else {
            append_json_escape(out, code_point);
        }
    };
    return escaped(json, escape, [](std::string& out, std::uint32_t) { append_json_escape(out, 0xfffd); });
}

}  // namespace gnntune
