#include "profiles/fields/json_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace gnntune::store {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

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
