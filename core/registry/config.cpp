#include "core/registry/config.hpp"

#include "core/common/error.hpp"

namespace gnntune {

const std::string* Params::find(std::string_view name) const {
    for (const auto& [key, value] : values_) {
        if (key == name) return &value;
    }
    return nullptr;
}

void Params::set(std::string name, std::string value) {
    for (auto& [key, old] : values_) {
        if (key == name) {
            old = std::move(value);
            return;
        }
    }
    values_.emplace_back(std::move(name), std::move(value));
}

std::string Params::text() const {
    std::string out;
    for (const auto& [key, value] : values_) {
        if (!out.empty()) out += ',';
        out += key + '=' + value;
    }
    return out;
}

Params Params::parse(std::string_view text) {
    Params params;
    std::size_t begin = 0;
    while (begin < text.size()) {
        // A comma inside braces belongs to a nested config, not to this list.
        std::size_t end = begin;
        int depth = 0;
        for (; end < text.size() && (depth > 0 || text[end] != ','); ++end) {
            depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
            if (depth < 0) break;
        }
        const std::string_view item = text.substr(begin, end - begin);
        if (depth != 0) {
            throw invalid_argument("params '" + std::string(text) +
                                   "': " + (depth < 0 ? "a '}' too many behind '" : "a '}' is missing behind '") +
                                   std::string(item) + "'");
        }
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
            throw invalid_argument("params '" + std::string(text) + "': expected name=value[,name=value...] at '" +
                                   std::string(item) + "'");
        }
        const std::string_view name = item.substr(0, equals);
        if (params.find(name)) {
            throw invalid_argument("params '" + std::string(text) + "': '" + std::string(name) + "' stands twice");
        }
        params.values_.emplace_back(std::string(name), std::string(item.substr(equals + 1)));
        begin = end + 1;
        if (end + 1 == text.size()) throw invalid_argument("params '" + std::string(text) + "' end with a comma");
    }
    return params;
}

std::string Config::text() const {
    return params.empty() ? variant : variant + '{' + params.text() + '}';
}

Config Config::parse(std::string_view text) {
    const std::size_t brace = text.find('{');
    Config config;
    config.variant = std::string(text.substr(0, brace));
    const bool closed = brace == std::string_view::npos ? text.find('}') == brace : text.back() == '}';
    if (config.variant.empty() || !closed) {
        throw invalid_argument("config '" + std::string(text) + "': expected variant or variant{name=value,...}");
    }
    if (brace != std::string_view::npos) config.params = Params::parse(text.substr(brace + 1, text.size() - brace - 2));
    return config;
}

}  // namespace gnntune
