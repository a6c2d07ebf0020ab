// "did you mean": the known word nearest to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnntune::tools {

/// The nearest of `known`, if at most a third of the word has to change; nothing if none is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean --budget?", or nothing where no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace gnntune::tools
