// Params and configs in their untyped form: what databases store, what people type, what the tuner enumerates.
// Each variant has a typed params struct beside its kernel and converts (core/registry/param_fields.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnntune {

/// Named values in the variant's own order. A value is a word without ',', '=' and unbalanced braces; it may itself be the
/// text of a config (compositions).
class Params {
public:
    Params() = default;
    Params(std::initializer_list<std::pair<std::string, std::string>> values) : values_(values) {}

    /// Value of `name`, or null.
    const std::string* find(std::string_view name) const;
    void set(std::string name, std::string value);
    bool empty() const { return values_.empty(); }
    const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }

    /// "warps_per_block=4,S=64"; empty text for no params.
    std::string text() const;
    /// Inverse of text(). Throws ErrorKind::invalid_argument in words.
    static Params parse(std::string_view text);

    bool operator==(const Params&) const = default;

private:
    std::vector<std::pair<std::string, std::string>> values_;
};

/// A variant with one value for each of its params.
struct Config {
    std::string variant;
    Params params;

    /// Canonical form: "spmm.tcgnn{warps_per_block=4}", or the bare variant id if there are no params.
    std::string text() const;
    /// Inverse of text(). Throws ErrorKind::invalid_argument in words.
    static Config parse(std::string_view text);

    bool operator==(const Config&) const = default;
};

/// A config inside a composition, with the version of its variant.
struct PartVersion {
    Config config;
    std::int32_t variant_version = 1;

    bool operator==(const PartVersion&) const = default;
};

}  // namespace gnntune
