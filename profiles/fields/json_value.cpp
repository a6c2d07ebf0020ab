#include "profiles/fields/json_value.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/fields/json_sax.hpp"
#include "profiles/fields/json_text.hpp"

namespace gnntune::store {
namespace {

void refuse_repeated_keys(const JsonValue& object) {
    if (object.keys.size() < 2) return;
    std::vector<std::string_view> sorted(object.keys.begin(), object.keys.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) throw input_error(fmt::format("the key \"{}\" stands twice in one object", *twice));
}

/// Events of one value by itself.
struct OneValue {
    JsonBuilder builder;

    void value(JsonValue&& v) { builder.add(std::move(v)); }
    void open(JsonValue::Kind kind) { builder.open(kind); }
    void key(std::string&& name) { builder.key(std::move(name)); }
    void close() { builder.close(); }
    [[noreturn]] void error(const std::string& words) { throw input_error("not JSON: " + words); }
};

}  // namespace

std::string_view kind_words(const JsonValue& value) {
    switch (value.kind) {
        case JsonValue::Kind::null:
            return "null";
        case JsonValue::Kind::boolean:
            return "true or false";
        case JsonValue::Kind::integer:
            return "a whole number";
        case JsonValue::Kind::real:
            return "a number that is not whole";
        case JsonValue::Kind::text:
            return "a text";
        case JsonValue::Kind::list:
            return "a list";
        case JsonValue::Kind::object:
            return "an object";
    }
    return "?";
}

void append_json(std::string& out, const JsonValue& value) {
    switch (value.kind) {
        case JsonValue::Kind::null:
            out += "null";
            break;
        case JsonValue::Kind::boolean:
            out += value.boolean ? "true" : "false";
            break;
        case JsonValue::Kind::integer:
            out += std::to_string(value.integer);
            break;
        case JsonValue::Kind::real:
            out += value.text;
            break;
        case JsonValue::Kind::text:
            append_json_text(out, value.text);
            break;
        case JsonValue::Kind::list:
        case JsonValue::Kind::object: {
            const bool object = value.is(JsonValue::Kind::object);
            out += object ? '{' : '[';
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                if (i > 0) out += ',';
                if (object) {
                    append_json_text(out, value.keys[i]);
                    out += ':';
                }
                append_json(out, value.items[i]);
            }
            out += object ? '}' : ']';
            break;
        }
    }
}

JsonValue parse_json(std::string_view text) {
    OneValue events;
    JsonSax<OneValue> sax(events);
    nlohmann::json::sax_parse(text.begin(), text.end(), &sax);
    return events.builder.take();
}

void JsonBuilder::add(JsonValue&& value) {
    if (open_.empty()) {
        done_ = std::move(value);
    } else {
        open_.back().items.push_back(std::move(value));
    }
}

void JsonBuilder::key(std::string&& name) {
    open_.back().keys.push_back(std::move(name));
}

void JsonBuilder::open(JsonValue::Kind list_or_object) {
    if (open_.size() >= kDeepest) throw input_error(fmt::format("nested deeper than {} levels", kDeepest));
    open_.emplace_back().kind = list_or_object;
}

void JsonBuilder::close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    refuse_repeated_keys(value);
    add(std::move(value));
}

}  // namespace gnntune::store
