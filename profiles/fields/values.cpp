#include "profiles/fields/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/registry/config.hpp"
#include "profiles/fields/json_text.hpp"

namespace gnntune::store {
namespace {

/// The value itself where it is short, else what it is.
std::string found_words(const JsonValue& value) {
    constexpr std::size_t kShort = 80;
    if (value.is(JsonValue::Kind::list) || value.is(JsonValue::Kind::object) ||
        (value.is(JsonValue::Kind::text) && value.text.size() > kShort)) {
        return std::string(kind_words(value));
    }
    std::string out;
    append_json(out, value);
    return out;
}

[[noreturn]] void expected(std::string_view what, const JsonValue& value, const std::string& path) {
    throw RecordError(path, fmt::format("expected {}, found {}", what, found_words(value)));
}

const std::string& text_of(const JsonValue& value, const std::string& path) {
    if (!value.is(JsonValue::Kind::text)) expected("a text", value, path);
    return value.text;
}

std::string range_words(std::string_view what, const Field& field) {
    std::string out(what);
    if (std::isfinite(field.least)) out += fmt::format(" from {}", field.least);
    if (field.most <= std::numeric_limits<std::int32_t>::max()) out += fmt::format(" to {:.0f}", field.most);
    return out;
}

bool in_range(const Field& field, double value) {
    return value >= field.least && value <= field.most;
}

std::int64_t integer_of(const Field& field, const JsonValue& value, const std::string& path) {
    if (!value.is(JsonValue::Kind::integer) || !in_range(field, static_cast<double>(value.integer))) {
        expected(range_words("a whole number", field), value, path);
    }
    return value.integer;
}

double real_of(const Field& field, const JsonValue& value, const std::string& path) {
    if (field.type == FieldType::error && value.is(JsonValue::Kind::text) && value.text == "Infinity") {
        return std::numeric_limits<double>::infinity();
    }
    const bool whole = value.is(JsonValue::Kind::integer);
    const double real = whole ? static_cast<double>(value.integer) : value.real;
    if ((!whole && !value.is(JsonValue::Kind::real)) || !in_range(field, real)) {
        const std::string_view what = field.type == FieldType::error ? "\"Infinity\" or a number" : "a number";
        expected(range_words(what, field), value, path);
    }
    return real;
}

bool is_instant(std::string_view text) {
    constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
    if (text.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < kForm.size(); ++i) {
        if (kForm[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return false;
    }
    const auto two = [&text](std::size_t at) { return 10 * (text[at] - '0') + text[at + 1] - '0'; };
    return two(5) >= 1 && two(5) <= 12 && two(8) >= 1 && two(8) <= 31 && two(11) < 24 && two(14) < 60 && two(17) <= 60;
}

Config config_of(const JsonValue& value, const std::string& path) {
    const std::string& text = text_of(value, path);
    try {
        Config config = Config::parse(text);
        if (config.text() == text) return config;
        throw RecordError(path,
                          fmt::format("expected the config in its canonical form, {}, found {}", config.text(), text));
    } catch (const Error& error) {
        throw RecordError(path, error.what());
    }
}

/// Any bytes: as base64 where they are no UTF-8.
std::string any_text_of(const JsonValue& value, const std::string& path) {
    if (value.is(JsonValue::Kind::object) && value.keys == std::vector<std::string>{"base64"}) {
        const std::string inside = path + ".base64";
        auto bytes = from_base64(text_of(value.items.front(), inside));
        if (!bytes) expected("base64", value.items.front(), inside);
        return std::move(*bytes);
    }
    return text_of(value, path);
}

std::string json_text(const JsonValue& value) {
    std::string out;
    append_json(out, value);
    return out;
}

}  // namespace

const JsonValue* member_of(const JsonValue& object, std::string_view name) {
    const auto found = std::find(object.keys.begin(), object.keys.end(), name);
    return found == object.keys.end() ? nullptr : &object.items[static_cast<std::size_t>(found - object.keys.begin())];
}

std::vector<const JsonValue*> members_of(const JsonValue& record, std::span<const Field> fields,
                                         std::span<const ChildTable> children, const std::string& path) {
    std::vector<const JsonValue*> members(fields.size(), nullptr);
    std::size_t next = 0;  // documents mostly have the members in the order of the fields
    for (std::size_t i = 0; i < record.keys.size(); ++i) {
        const std::string& key = record.keys[i];
        if (next >= fields.size() || fields[next].name != key) {
            const auto found =
                std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == key; });
            next = static_cast<std::size_t>(found - fields.begin());
        }
        if (next < fields.size()) {
            if (!record.items[i].is(JsonValue::Kind::null)) members[next] = &record.items[i];
            ++next;
        } else if (std::none_of(children.begin(), children.end(), [&](const ChildTable& c) { return c.name == key; })) {
            throw RecordError(path, fmt::format("there is no field \"{}\"", key));
        }
    }
    for (std::size_t f = 0; f < fields.size(); ++f) {
        if (!members[f] && !fields[f].may_lack) {
            throw RecordError(path, fmt::format("the field \"{}\" is missing", fields[f].name));
        }
    }
    return members;
}

/// "an op", "a backend".
const char* article(std::string_view noun) {
    return !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos ? "an" : "a";
}

void append_columns(std::vector<SqlValue>& columns, const Field& field, const JsonValue& value,
                    const std::string& path) {
    switch (field.type) {
        case FieldType::text:
            columns.emplace_back(any_text_of(value, path));
            return;
        case FieldType::name:
            columns.emplace_back(text_of(value, path));
            return;
        case FieldType::instant:
            if (!is_instant(text_of(value, path))) expected("a time in UTC such as 2026-11-21T09:30:00Z", value, path);
            columns.emplace_back(value.text);
            return;
        case FieldType::fingerprint:
            if (const auto f = Fingerprint::parse(text_of(value, path)); !f || f->text() != value.text) {
                expected("32 hexadecimal digits in lower case", value, path);
            }
            columns.emplace_back(value.text);
            return;
        case FieldType::config: {
            Config config = config_of(value, path);
            columns.emplace_back(value.text);
            columns.emplace_back(std::move(config.variant));
            return;
        }
        case FieldType::word:
            if (!field.known(text_of(value, path))) {
                expected(fmt::format("{} {} that this gnntune knows", article(field.name), field.name), value, path);
            }
            columns.emplace_back(value.text);
            return;
        case FieldType::boolean:
            if (!value.is(JsonValue::Kind::boolean)) expected("true or false", value, path);
            columns.emplace_back(std::int64_t{value.boolean});
            return;
        case FieldType::integer:
            columns.emplace_back(integer_of(field, value, path));
            return;
        case FieldType::real:
        case FieldType::error:
            columns.emplace_back(real_of(field, value, path));
            return;
        case FieldType::bytes: {
            auto bytes = from_base64(text_of(value, path));
            if (!bytes) expected("base64", value, path);
            columns.emplace_back(std::move(*bytes));
            return;
        }
        case FieldType::json_object:
            if (!value.is(JsonValue::Kind::object)) expected("an object", value, path);
            columns.emplace_back(json_text(value));
            return;
        case FieldType::configs:
            if (!value.is(JsonValue::Kind::list)) expected("a list of configs", value, path);
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                (void)config_of(value.items[i], fmt::format("{}[{}]", path, i));
            }
            columns.emplace_back(json_text(value));
            return;
        case FieldType::number:
        case FieldType::graph:
        case FieldType::environment:
        case FieldType::problem:
        case FieldType::run:
            return;
    }
}

std::string name_of(const Field& field, const JsonValue& value, const std::string& path) {
    switch (field.type) {
        case FieldType::number:
        case FieldType::environment:
        case FieldType::run:
            if (!value.is(JsonValue::Kind::integer)) expected("a whole number", value, path);
            return std::to_string(value.integer);
        default:
            return text_of(value, path);
    }
}

}  // namespace gnntune::store
