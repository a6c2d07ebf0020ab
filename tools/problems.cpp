#include "tools/problems.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "tuner/stopwatch.hpp"

namespace gnntune::tools {
namespace {

// "yes", "no", "both" and the like: the values that a two-valued option stands for.
template <typename T>
std::vector<T> either(const Parsed& parsed, const std::string& name, std::string_view first_word, T first,
                      std::string_view second_word, T second) {
    const std::string text = parsed.text(name);
    if (text == first_word) return {first};
    if (text == second_word) return {second};
    if (text == "both") return {first, second};
    throw invalid_argument("--" + name + " is '" + text + "', expected " + std::string(first_word) + ", " +
                           std::string(second_word) + " or both");
}

}  // namespace

void add_problem_options(Options& options, const std::string& dims) {
    options.group("Problems")
        .add_options()("op", value("LIST", "spmm"), "ops: spmm, sddmm")("dim", value("LIST", dims),
                                                                        "feature dimensions k, such as 16,32,64")(
            "weights", value("WHICH", "yes"), "edge weights: yes (random where the graph has none), no or both")(
            "direction", value("WHICH", "forward"), "forward (A), reversed (A transposed) or both");
}

std::vector<Problem> problems(const Parsed& parsed) {
    std::vector<Problem> out;
    for (const Op op : parsed.ops("op")) {
        for (const Direction direction :
             either(parsed, "direction", "forward", Direction::forward, "reversed", Direction::reversed)) {
            for (const bool weighted : either(parsed, "weights", "yes", true, "no", false)) {
                for (const std::int64_t k : parsed.integers("dim", 1, 1 << 20)) {
                    Problem p;
                    p.op = op;
                    p.k = static_cast<std::int32_t>(k);
                    p.weighted = weighted;
                    p.direction = direction;
                    if (std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
                }
            }
        }
    }
    if (out.empty()) throw invalid_argument("--op and --dim leave nothing to do; give at least one of each");
    return out;
}

void add_timing_options(Options& options) {
    options.group("Timing").add_options()("policy", value("WHICH", "hot"),
                                          "hot (inputs as the last run left them), cold (L2 flushed) or both")(
        "clock", value("WHICH", "auto"),
        "span (CUPTI), events (CUDA events) or both; auto: span where CUPTI allows it, else events");
}

std::vector<Policy> policies(const Parsed& parsed) {
    return either(parsed, "policy", "hot", Policy::hot, "cold", Policy::cold);
}

std::vector<Clock> clocks(const Parsed& parsed, const Device& device, Output& out) {
    const std::string text = parsed.text("clock");
    const bool automatic = text == "auto";
    std::vector<Clock> wanted;
    if (!automatic) wanted = either(parsed, "clock", "span", Clock::span, "events", Clock::events);
    if (device.backend == Backend::cpu) {
        if (!automatic) out.warn("--clock is for GPUs; the CPU is timed by the host's clock");
        return {Clock::host};
    }
    auto usable = tuner::usable_clocks(device, wanted);
    for (const std::string& warning : usable.warnings) out.warn(warning);
    if (automatic) usable.clocks.resize(1);
    return usable.clocks;
}

void add_constraint_options(Options& options) {
    options.group("Choosing")
        .add_options()("deterministic", boost::program_options::bool_switch(),
                       "choose only configs that repeat bit for bit")(
            "expected-calls", value("N", "1000"), "runs over which the cost of building formats is spread")(
            "max-error", value("E", "0"), "largest error of reduced-precision configs that may be chosen")(
            "allow-sampling", boost::program_options::bool_switch(), "configs that drop edges by design may be chosen")(
            "workspace-limit", value("BYTES"), "most workspace a config may need, such as 64MiB");
}

Constraints constraints(const Parsed& parsed) {
    Constraints c;
    c.deterministic = parsed.flag("deterministic");
    c.allow_sampling = parsed.flag("allow-sampling");
    c.expected_calls = parsed.real("expected-calls", 1e-9, 1e18).value_or(c.expected_calls);
    c.max_error = parsed.real("max-error", 0, 1e9).value_or(0);
    if (const auto bytes = parsed.bytes("workspace-limit")) c.workspace_limit_bytes = static_cast<std::size_t>(*bytes);
    return c;
}

std::string short_problem(const Problem& p) {
    std::string text = std::string(to_text(p.op)) + " k=" + std::to_string(p.k);
    if (!p.weighted) text += " unweighted";
    if (p.direction == Direction::reversed) text += " reversed";
    return text;
}

}  // namespace gnntune::tools
