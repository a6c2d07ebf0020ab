#include "profiles/json_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace gnntune::store {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes of the UTF-8 sequence at the front; 0 if it is none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;  // 0 continues nothing
    };
    const auto continues = [&byte](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first < 0xf0) {
        if (!continues(1) || !continues(2)) return 0;
        const bool overlong = first == 0xe0 && byte(1) < 0xa0;
        const bool surrogate = first == 0xed && byte(1) >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xf0 && first < 0xf5) {
        if (!continues(1) || !continues(2) || !continues(3)) return 0;
        const bool overlong = first == 0xf0 && byte(1) < 0x90;
        const bool too_high = first == 0xf4 && byte(1) >= 0x90;
        return overlong || too_high ? 0 : 4;
    }
    return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

void append_json_text(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\b':
                out += "\\b";
                break;
            case '\f':
                out += "\\f";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out += c;
                }
        }
    }
    out += '"';
}

void append_json_real(std::string& out, double value) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value == 0 ? 0.0 : value);
    out.append(digits, end.ptr);
}

void append_base64(std::string& out, std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < 3; ++b) {
            bits = bits << 8 | (b < here ? static_cast<unsigned char>(bytes[i + b]) : 0U);
        }
        for (std::size_t d = 0; d < 4; ++d) out += d <= here ? kBase64[bits >> (18 - 6 * d) & 63U] : '=';
    }
}

std::optional<std::string> from_base64(std::string_view text) {
    static const std::array<int, 256> kValues = [] {
        std::array<int, 256> values{};
        values.fill(-1);
        for (std::size_t i = 0; i < kBase64.size(); ++i)
            values[static_cast<unsigned char>(kBase64[i])] = static_cast<int>(i);
        return values;
    }();
    if (text.size() % 4 != 0) return std::nullopt;
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const bool last = i + 4 == text.size();
        const std::size_t padding = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
        std::uint32_t bits = 0;
        for (std::size_t d = 0; d < 4; ++d) {
            const int value = d < 4 - padding ? kValues[static_cast<unsigned char>(text[i + d])] : 0;
            if (value < 0) return std::nullopt;
            bits = bits << 6 | static_cast<std::uint32_t>(value);
        }
        // Bits that no byte takes are zero: there is one text for the same bytes.
        if ((padding == 1 && (bits & 0xffU) != 0) || (padding == 2 && (bits & 0xffffU) != 0)) return std::nullopt;
        for (std::size_t b = 0; b < 3 - padding; ++b) out += static_cast<char>(bits >> (16 - 8 * b) & 0xffU);
    }
    return out;
}

}  // namespace gnntune::store
