#include "core/generate/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/common/numbers.hpp"

namespace gnntune::generate {

namespace {

std::string number_text(double value) {
    if (value == std::floor(value) && std::fabs(value) < 0x1p53)
        return std::to_string(static_cast<std::int64_t>(value));
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

const KindInfo& find_kind(const std::string& name) {
    std::string known;
    for (const KindInfo& kind : generator_kinds()) {
        if (kind.name == name) return kind;
        known += (known.empty() ? "" : ", ") + kind.name;
    }
    throw invalid_argument("unknown kind of graph '" + name + "'; expected one of " + known);
}

std::size_t find_parameter(const KindInfo& kind, std::string_view name) {
    for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
        if (kind.parameters[p].name == name) return p;
    }
    return kind.parameters.size();
}

void check(const KindInfo& kind, const ParameterInfo& info, const std::string& value) {
    const std::string what = kind.name + ": parameter " + info.name + " is '" + value + "', expected ";
    if (info.type == ParameterType::text) return;
    if (info.type == ParameterType::boolean) {
        if (value != "yes" && value != "no") throw invalid_argument(what + "yes or no");
        return;
    }
    const bool is_integer = info.type == ParameterType::integer;
    std::optional<double> number;
    if (!is_integer) {
        number = parse_number<double>(value);
    } else if (const auto whole = parse_number<std::int64_t>(value)) {
        number = static_cast<double>(*whole);
    }
    const bool legal = number && *number >= info.minimum && *number <= info.maximum;
    if (!legal) {
        throw invalid_argument(what + (is_integer ? "a whole number from " : "a number from ") +
                               number_text(info.minimum) + " to " + number_text(info.maximum));
    }
}

}  // namespace

Parameters::Parameters(const Recipe& recipe) : info_(&find_kind(recipe.kind)), seed_(recipe.seed) {
    for (const ParameterInfo& info : info_->parameters) values_.push_back(info.default_value);
    std::vector<bool> given(values_.size(), false);
    for (const auto& [name, value] : recipe.params) {
        const std::size_t p = find_parameter(*info_, name);
        if (p == values_.size()) {
            std::string known;
            for (const ParameterInfo& info : info_->parameters) known += (known.empty() ? "" : ", ") + info.name;
            throw error("unknown parameter '" + name + "'; expected one of " + known);
        }
        if (given[p]) throw error("parameter " + name + " is given twice; give it once");
        given[p] = true;
        check(*info_, info_->parameters[p], value);
        values_[p] = value;
    }
}

bool Parameters::has(std::string_view name) const {
    return find_parameter(*info_, name) < values_.size();
}

const std::string& Parameters::text(std::string_view name) const {
    return values_.at(find_parameter(*info_, name));
}

std::int64_t Parameters::integer(std::string_view name) const {
    return parse_number<std::int64_t>(text(name)).value_or(0);
}

double Parameters::real(std::string_view name) const {
    return parse_number<double>(text(name)).value_or(0.0);
}

bool Parameters::boolean(std::string_view name) const {
    return text(name) == "yes";
}

std::string text(const Recipe& recipe) {
    std::string out = recipe.kind + "{";
    for (std::size_t p = 0; p < recipe.params.size(); ++p) {
        out += (p == 0 ? "" : ",") + recipe.params[p].first + "=" + recipe.params[p].second;
    }
    return out + "} seed " + std::to_string(recipe.seed);
}

std::optional<Recipe> parse_text(std::string_view line) {
    constexpr std::string_view kSeed = "} seed ";
    const std::size_t open = line.find('{');
    const std::size_t close = line.rfind(kSeed);
    if (open == std::string_view::npos || open == 0 || close == std::string_view::npos || close < open) {
        return std::nullopt;
    }
    Recipe recipe;
    recipe.kind = line.substr(0, open);
    const auto seed = parse_number<decltype(recipe.seed)>(line.substr(close + kSeed.size()));
    if (!seed) return std::nullopt;
    recipe.seed = *seed;
    std::string_view rest = line.substr(open + 1, close - open - 1);
    while (!rest.empty()) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(item.size() + 1, rest.size()));
        const std::size_t equals = item.find('=');
        if (equals != std::string_view::npos) {
            recipe.params.emplace_back(item.substr(0, equals), item.substr(equals + 1));
        } else if (!recipe.params.empty()) {  // a value with commas
            recipe.params.back().second.append(",").append(item);
        } else {
            return std::nullopt;
        }
    }
    return recipe;
}

}  // namespace gnntune::generate
