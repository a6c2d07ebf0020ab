#include "profiles/store/environment_words.hpp"

#include <fmt/format.h>

namespace gnntune::store {

std::vector<std::string> differences(const Environment& a, const Environment& b) {
    std::vector<std::string> words;
    const auto say = [&words](const char* what, const std::string& x, const std::string& y) {
        const auto shown = [](const std::string& text) { return text.empty() ? "unknown" : text; };
        if (x != y) words.push_back(fmt::format("{} {} -> {}", what, shown(x), shown(y)));
    };
    say("device", a.device_name, b.device_name);
    say("capability", a.compute_capability, b.compute_capability);
    const bool cpus = a.backend == Backend::cpu && b.backend == Backend::cpu;
    say(cpus ? "threads" : "multiprocessors", std::to_string(a.multiprocessors), std::to_string(b.multiprocessors));
    say("memory", std::to_string(a.memory_bytes), std::to_string(b.memory_bytes));
    say("L2", std::to_string(a.l2_bytes), std::to_string(b.l2_bytes));
    say("driver", a.driver, b.driver);
    say("CUDA", a.cuda_runtime, b.cuda_runtime);
    say("libraries", a.libraries, b.libraries);
    return words;
}

}  // namespace gnntune::store
