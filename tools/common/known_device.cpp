#include "tools/common/known_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/common/error.hpp"
#include "tools/common/models.hpp"

namespace gnntune::tools {
namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

}  // namespace

Backend backend_of_models(std::span<const store::Store> layers, const Parsed& parsed) {
    for (const store::Store& store : layers) {
        const auto models = store.models();
        if (models.empty() || !parsed.common.device_text.empty()) continue;
        const bool gpu = std::any_of(models.begin(), models.end(),
                                     [](const store::ModelRow& row) { return row.backend == Backend::cuda; });
        return gpu ? Backend::cuda : Backend::cpu;
    }
    return backend_of(layers.front(), parsed);
}

Environment device_named(std::span<const store::Store> layers, const std::string& text, Backend backend) {
    std::string known;
    std::string other;  // of the other backend, with that name
    for (const store::Store& store : layers) {
        std::optional<Environment> found;
        for (const store::EnvironmentRow& e : store.environments()) {
            const bool named = lower(e.environment.device_name).find(lower(text)) != std::string::npos;
            if (e.environment.backend != backend) {
                if (named && !text.empty()) other = e.environment.device_name;
                continue;
            }
            if (named) found = e.environment;
            known += (known.empty() ? "" : ", ") + e.environment.device_name;
        }
        if (found) return *found;
    }
    if (!other.empty()) {
        const Backend theirs = backend == Backend::cpu ? Backend::cuda : Backend::cpu;
        throw input_error(fmt::format("no device of {} holds '{}' in its name; --device {} has {}", to_text(backend),
                                      text, to_text(theirs), other));
    }
    const std::string& first = layers.front().path().string();
    if (known.empty()) {
        throw input_error(
            fmt::format("nothing was measured on {} in {} or what came with the program; --device names the other "
                        "backend, cpu or cuda",
                        to_text(backend), first));
    }
    throw input_error(fmt::format("no device of {} holds '{}' in its name; {} and what came with the program have {}",
                                  to_text(backend), text, first, known));
}

}  // namespace gnntune::tools
