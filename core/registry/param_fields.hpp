// Bridge between a variant's typed params struct and the untyped Params of databases and people.
//
// A params struct P has int members and names them once:
//   static const std::vector<ParamField<P>>& fields();
// From that follow text, parsing, validity of single values and enumeration of the whole space.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/error.hpp"
#include "core/registry/config.hpp"

namespace gnntune {

/// One tuning parameter: its name, where it lives, the values it may take, and (for parameters that are words rather
/// than numbers) a label for each value.
template <typename P>
struct ParamField {
    using Member = int P::*;
    std::string_view name;
    Member member;
    std::vector<int> values;
    std::vector<std::string_view> labels = {};
};

template <typename P>
Params to_params(const P& typed) {
    Params out;
    for (const auto& field : P::fields()) {
        const int value = typed.*(field.member);
        std::string text = std::to_string(value);
        for (std::size_t i = 0; i < field.labels.size(); ++i) {
            if (field.values[i] == value) text = field.labels[i];
        }
        out.set(std::string(field.name), std::move(text));
    }
    return out;
}

/// The value that `text` stands for, or null if the field does not list it.
template <typename P>
const int* value_of(const ParamField<P>& field, std::string_view text) {
    for (std::size_t i = 0; i < field.values.size(); ++i) {
        if (!field.labels.empty()) {
            if (field.labels[i] == text) return &field.values[i];
            continue;
        }
        // Compared as text, so that 08 is no 8: a config has one text.
        char digits[16];
        const auto end = std::to_chars(digits, digits + sizeof digits, field.values[i]).ptr;
        if (std::string_view(digits, static_cast<std::size_t>(end - digits)) == text) return &field.values[i];
    }
    return nullptr;
}

/// Typed params of `params`. Names left out keep the struct's default. Throws ErrorKind::invalid_argument for an
/// unknown name or a value that the field does not list. Allocates only to say so: a dispatcher calls it for every
/// config.
template <typename P>
P from_params(const Params& params) {
    P out;
    const auto& fields = P::fields();
    for (const auto& [name, text] : params.values()) {
        // Clang 16 does not capture a structured binding by its name where OpenMP is on.
        const auto field =
            std::find_if(fields.begin(), fields.end(), [&wanted = name](const auto& f) { return f.name == wanted; });
        std::string known;
        if (field == fields.end()) {
            for (const auto& f : fields) known += (known.empty() ? "" : ", ") + std::string(f.name);
            throw invalid_argument("unknown param '" + name + "'; expected " + (known.empty() ? "none" : known));
        }
        const int* value = value_of(*field, text);
        if (!value) {
            for (std::size_t i = 0; i < field->values.size(); ++i) {
                known += (known.empty() ? "" : ", ") +
                         (field->labels.empty() ? std::to_string(field->values[i]) : std::string(field->labels[i]));
            }
            throw invalid_argument("param " + name + "=" + text + " is not one of " + known);
        }
        out.*(field->member) = *value;
    }
    return out;
}

/// Every combination of field values, in field order, last field fastest. Not filtered for legality.
template <typename P>
std::vector<P> enumerate_params() {
    std::vector<P> out{P{}};
    for (const auto& field : P::fields()) {
        std::vector<P> next;
        for (const P& base : out) {
            for (const int value : field.values) {
                next.push_back(base);
                next.back().*(field.member) = value;
            }
        }
        out = std::move(next);
    }
    return out;
}

}  // namespace gnntune
