// The problems that tell most about a GPU that nobody measured, compiled in.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/generate/generate.hpp"
#include "core/generate/recipes_data.hpp"

namespace gnntune::generate {

const std::vector<TellingProblem>& telling_problems() {
    static const std::vector<TellingProblem> problems = [] {
        std::vector<TellingProblem> out;
        for (Recipe& recipe : parse_recipes(telling_json())) out.push_back({std::move(recipe), 0});
        const auto document = nlohmann::json::parse(telling_json());
        for (std::size_t i = 0; i < out.size(); ++i) out[i].k = document["recipes"][i]["k"].get<std::int32_t>();
        return out;
    }();
    return problems;
}

double rough_size(const TellingProblem& problem) {
    double largest = 1;
    for (const auto& [name, value] : problem.recipe.params)
        largest = std::max(largest, std::strtod(value.c_str(), nullptr));
    return largest * problem.k;
}

}  // namespace gnntune::generate
