// A JSON value that forgets nothing but blanks: the order of keys stays, numbers keep their digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnntune::store {

struct JsonValue {
    enum class Kind { null, boolean, integer, real, text, list, object };

    Kind kind = Kind::null;
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;                ///< of a number with a point or exponent, or one beyond 64 bits; always finite
    std::string text;               ///< of a text; of a real its digits as they were written
    std::vector<JsonValue> items;   ///< of a list; the values of an object
    std::vector<std::string> keys;  ///< of an object, one for each of `items`, all different

    bool is(Kind wanted) const { return kind == wanted; }
};

/// "a number", "a text", "a list", ...: for messages.
std::string_view kind_words(const JsonValue& value);

/// Without blanks, keys in their order, numbers with their digits: one line.
void append_json(std::string& out, const JsonValue& value);

/// Throws ErrorKind::input in words if `text` is not JSON, names a key twice in one object, is nested deeper than
/// JsonBuilder::kDeepest or holds a number beyond the range of a double.
JsonValue parse_json(std::string_view text);

/// Puts a value together from what a parser meets, one event after the other. Throws ErrorKind::input as parse_json().
class JsonBuilder {
public:
    static constexpr std::size_t kDeepest = 64;

    /// A value without an inside. In an object its key must have come before.
    void add(JsonValue&& value);
    void key(std::string&& name);
    void open(JsonValue::Kind list_or_object);
    void close();

    bool inside() const { return !open_.empty(); }
    /// The value that was completed last.
    JsonValue take() { return std::move(done_); }

private:
    std::vector<JsonValue> open_;
    JsonValue done_;
};

}  // namespace gnntune::store
