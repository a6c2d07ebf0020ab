// Between nlohmann's event parser and ours: values in JsonValue, errors in our words. For the parsers of this folder.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/common/utf8.hpp"
#include "profiles/fields/json_value.hpp"

namespace gnntune::store {

/// Without the parser's own name for the error, of a bearable length, and UTF-8 whatever was read.
inline std::string parser_words(const std::exception& error) {
    constexpr std::size_t kLongest = 300;
    std::string words = error.what();
    if (const auto end = words.find("] "); words.starts_with("[json.exception") && end != std::string::npos) {
        words.erase(0, end + 2);
    }
    if (words.starts_with("parse error at ")) words.erase(0, std::string_view("parse error at ").size());
    if (words.size() > kLongest) words = words.substr(0, kLongest) + " ...";
    if (!is_utf8(words)) {
        std::replace_if(
            words.begin(), words.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    }
    return words;
}

/// Events has value(JsonValue&&), open(JsonValue::Kind), key(std::string&&), close(), and error(std::string) which
/// throws.
template <class Events>
class JsonSax {
public:
    explicit JsonSax(Events& events) : events_(events) {}

    bool null() { return scalar({}); }
    bool boolean(bool b) {
        JsonValue value;
        value.kind = JsonValue::Kind::boolean;
        value.boolean = b;
        return scalar(std::move(value));
    }
    bool number_integer(std::int64_t i) {
        JsonValue value;
        value.kind = JsonValue::Kind::integer;
        value.integer = i;
        return scalar(std::move(value));
    }
    bool number_unsigned(std::uint64_t u) {
        if (u <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return number_integer(static_cast<std::int64_t>(u));
        }
        return number_float(static_cast<double>(u), std::to_string(u));
    }
    bool number_float(double real, const std::string& digits) {
        JsonValue value;
        value.kind = JsonValue::Kind::real;
        value.real = real;
        value.text = digits;
        return scalar(std::move(value));
    }
    bool string(std::string& text) {
        JsonValue value;
        value.kind = JsonValue::Kind::text;
        value.text = std::move(text);
        return scalar(std::move(value));
    }
    bool binary(nlohmann::json::binary_t&) { return false; }  // JSON text has none
    bool start_object(std::size_t) { return opened(JsonValue::Kind::object); }
    bool start_array(std::size_t) { return opened(JsonValue::Kind::list); }
    bool key(std::string& name) {
        events_.key(std::move(name));
        return true;
    }
    bool end_object() { return closed(); }
    bool end_array() { return closed(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
        events_.error(parser_words(error));
        return false;
    }

private:
    bool scalar(JsonValue&& value) {
        events_.value(std::move(value));
        return true;
    }
    bool opened(JsonValue::Kind kind) {
        events_.open(kind);
        return true;
    }
    bool closed() {
        events_.close();
        return true;
    }

    Events& events_;
};

}  // namespace gnntune::store
