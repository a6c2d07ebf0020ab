// Recipes as JSON, and the stand-ins that are compiled in.
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"
#include "core/generate/recipes_data.hpp"

namespace gnntune::generate {

namespace {

using Json = nlohmann::ordered_json;  // parameters keep the order of the file

constexpr std::string_view kPrefix = "standin/";

std::string value_text(const std::string& name, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_number()) return value.dump();
    throw input_error("recipe: parameter '" + name + "' is " + value.dump() +
                      ", expected a number, a string, true or false");
}

Recipe recipe_of(const Json& entry) {
    Recipe recipe;
    recipe.name = entry.at("name").get<std::string>();
    recipe.kind = entry.at("kind").get<std::string>();
    recipe.seed = entry.value("seed", std::uint64_t{1});
    recipe.source = entry.value("source", std::string());
    const Json params = entry.value("params", Json::object());
    for (const auto& item : params.items()) {
        recipe.params.emplace_back(item.key(), value_text(item.key(), item.value()));
    }
    return recipe;
}

const std::vector<Recipe>& standins() {
    static const std::vector<Recipe> recipes = parse_recipes(standins_json());
    return recipes;
}

}  // namespace

std::vector<Recipe> parse_recipes(std::string_view json) {
    try {
        std::vector<Recipe> recipes;
        const Json document = Json::parse(json);
        for (const Json& entry : document.at("recipes")) recipes.push_back(recipe_of(entry));
        return recipes;
    } catch (const Json::exception& e) {
        throw input_error(std::string("recipes: expected JSON with a list 'recipes' of objects with 'name', 'kind' and "
                                      "'params'; ") +
                          e.what());
    }
}

std::vector<std::string> standin_names() {
    std::vector<std::string> names;
    for (const Recipe& recipe : standins()) names.push_back(recipe.name.substr(kPrefix.size()));
    return names;
}

Recipe standin(std::string_view name) {
    const std::string_view bare = name.substr(0, kPrefix.size()) == kPrefix ? name.substr(kPrefix.size()) : name;
    std::string known;
    for (const Recipe& recipe : standins()) {
        const std::string_view own = std::string_view(recipe.name).substr(kPrefix.size());
        if (own == bare) return recipe;
        known += (known.empty() ? "" : ", ") + std::string(own);
    }
    throw invalid_argument("unknown stand-in '" + std::string(name) + "'; expected one of " + known);
}

}  // namespace gnntune::generate
