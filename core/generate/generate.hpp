// Synthetic graphs, deterministic by recipe and seed: the same arrays on any machine and with any number of threads.
//
// A recipe names a kind and its parameters. The kinds and their parameters are data (generator_kinds()), so that a
// command line, a manifest and a test can be driven by them. Stand-ins are recipes, compiled in from
// data/standins.json, for graphs of the literature that cannot be shipped: same vertices and edges, like degrees;
// always to be labelled as stand-ins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/types.hpp"

namespace gnntune::generate {

enum class ParameterType { integer, real, boolean, text };

/// One parameter of a kind. Booleans are written `yes` or `no`.
struct ParameterInfo {
    std::string name;  ///< snake_case
    ParameterType type = ParameterType::integer;
    std::string default_value;
    double minimum = 0;  ///< of integer and real, inclusive
    double maximum = 0;  ///< of integer and real, inclusive
    std::string help;    ///< one line, no full stop
};

struct KindInfo {
    std::string name;
    std::string help;  ///< one line, no full stop
    std::vector<ParameterInfo> parameters;
};

/// How to make one graph. Parameters left out have their defaults.
struct Recipe {
    std::string name;  ///< free; `standin/<name>` for stand-ins
    std::string kind;  ///< a name of generator_kinds()
    std::vector<std::pair<std::string, std::string>> params;
    std::uint64_t seed = 1;
    std::string source;  ///< where the figures come from; may be empty

    bool operator==(const Recipe&) const = default;
};

/// All kinds, in the order in which a person should read them.
const std::vector<KindInfo>& generator_kinds();

/// Makes the graph: columns of each row ascending, exactly the stored entries the recipe asks for, OpenMP-parallel.
/// Throws ErrorKind::invalid_argument for an unknown kind or parameter, a value out of range or impossible sizes, and
/// ErrorKind::unsupported for more than kMaxEdges vertices or entries.
CsrGraph generate(const Recipe& recipe);

/// One line that says it all: `rmat{n=1000,m=5000} seed 1`.
std::string text(const Recipe& recipe);
/// The recipe of such a line, without name and source; nothing for any other text. Its kind and parameters may be
/// unknown: generate() says so.
std::optional<Recipe> parse_text(std::string_view line);

/// Recipes from JSON text: {"recipes": [{"name", "kind", "seed", "source", "params": {...}}, ...]}. Parameters keep
/// their order; numbers, strings and true/false are accepted. Throws ErrorKind::input for text that is not of that
/// form.
std::vector<Recipe> parse_recipes(std::string_view json);

/// Names of the compiled-in stand-ins, without the `standin/`, in the order of the file.
std::vector<std::string> standin_names();

/// A stand-in by its name, with or without `standin/`. Throws ErrorKind::invalid_argument for an unknown one.
Recipe standin(std::string_view name);

/// A recipe and the feature dimension at which it tells how configs rank on a device.
struct TellingProblem {
    Recipe recipe;
    std::int32_t k = 0;
};

/// What to measure first on a device that nobody knows, most telling first (data/telling.json).
const std::vector<TellingProblem>& telling_problems();
/// The largest number in a recipe, of vertices or of edges, times the width: enough to tell quick problems from slow ones.
double rough_size(const TellingProblem& problem);

}  // namespace gnntune::generate
