#include "tools/paper/fields.hpp"

#include <algorithm>

#include "core/common/error.hpp"

namespace gnntune::tools::paper {

void require_keys(const Json& object, const std::string& where, const std::vector<std::string_view>& known) {
    if (!object.is_object()) throw input_error("papers: " + where + " is no object");
    for (const auto& entry : object.items()) {
        if (std::find(known.begin(), known.end(), entry.key()) == known.end()) {
            throw input_error("papers: " + where + " has an unknown key '" + entry.key() + "'");
        }
    }
}

std::vector<std::string> one_or_more(const Json& value) {
    if (value.is_string()) return {value.get<std::string>()};
    return value.get<std::vector<std::string>>();
}

Cell figure_of(const Json& value, const std::string& where) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return value.get<double>();
    throw input_error("papers: a figure of " + where + " is " + value.dump() + ", expected a number or a text");
}

std::optional<double> number_of(const Cell& cell) {
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    return std::nullopt;
}

std::optional<double> sum_of(const std::map<std::string, Cell>& cells, const std::vector<std::string>& keys) {
    double total = 0;
    for (const std::string& key : keys) {
        const auto cell = cells.find(key);
        const auto value = cell == cells.end() ? std::nullopt : number_of(cell->second);
        if (!value) return std::nullopt;
        total += *value;
    }
    return total;
}

}  // namespace gnntune::tools::paper
