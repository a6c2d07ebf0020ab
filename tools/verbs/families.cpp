#include "tools/verbs/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "core/common/error.hpp"

namespace gnntune::tools {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            fields.back() += line[++i];
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += line[i];
        }
    }
    return fields;
}

}  // namespace

std::map<std::string, std::string> read_families(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw input_error(path + " cannot be read; expected a CSV with the columns name and family");
    std::map<std::string, std::string> families;
    std::size_t name = 0;
    std::size_t family = 0;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty()) continue;
        const auto fields = fields_of(line);
        if (number == 1) {
            const auto at = [&](const char* column) {
                const auto found = std::find(fields.begin(), fields.end(), column);
                if (found == fields.end()) {
                    throw input_error(
                        fmt::format("{}:1: expected a header with the columns name and family, got '{}'", path, line));
                }
                return static_cast<std::size_t>(found - fields.begin());
            };
            name = at("name");
            family = at("family");
            continue;
        }
        if (fields.size() <= std::max(name, family) || fields[name].empty() || fields[family].empty()) {
            throw input_error(fmt::format("{}:{}: expected a name and a family, got '{}'", path, number, line));
        }
        if (!families.emplace(fields[name], fields[family]).second) {
            throw input_error(fmt::format("{}:{}: the graph '{}' stands there twice", path, number, fields[name]));
        }
    }
    if (families.empty()) throw input_error(path + " names no graphs; expected a line with name and family for each");
    return families;
}

}  // namespace gnntune::tools
