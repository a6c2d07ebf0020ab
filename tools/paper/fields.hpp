// What the readers of data/papers.json and the sheets share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/table.hpp"

namespace gnntune::tools::paper {

/// A misspelt key would otherwise read as a default: throws ErrorKind::input for one that is not `known`.
void require_keys(const Json& object, const std::string& where, const std::vector<std::string_view>& known);

/// A text or a list of texts.
std::vector<std::string> one_or_more(const Json& value);

/// A figure of the paper, a number or a text.
Cell figure_of(const Json& value, const std::string& where);

/// The number of a cell that has one.
std::optional<double> number_of(const Cell& cell);

/// Of the cells of a row that have these keys; nothing if one of them has no number.
std::optional<double> sum_of(const std::map<std::string, Cell>& cells, const std::vector<std::string>& keys);

}  // namespace gnntune::tools::paper
