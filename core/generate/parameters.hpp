// The parameters of one recipe, checked against its kind, with defaults filled in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"

namespace gnntune::generate {

class Parameters {
public:
    /// Throws for an unknown kind or parameter, a parameter given twice, a value of the wrong type or out of range.
    explicit Parameters(const Recipe& recipe);

    const std::string& kind() const { return info_->name; }
    std::uint64_t seed() const { return seed_; }
    bool has(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    bool boolean(std::string_view name) const;
    const std::string& text(std::string_view name) const;

    /// An error about this recipe: `power_law: <message>`.
    Error error(const std::string& message) const { return invalid_argument(info_->name + ": " + message); }

private:
    const KindInfo* info_ = nullptr;
    std::uint64_t seed_ = 0;
    std::vector<std::string> values_;  ///< parallel to info_->parameters
};

}  // namespace gnntune::generate
