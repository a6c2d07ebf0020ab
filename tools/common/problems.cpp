#include "tools/common/problems.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "core/ops/arrays.hpp"
#include "core/registry/device.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tuner/clocks.hpp"

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

namespace {

bool has_heads(Op op) {
    return normalised({op, 1, 2, DType::f32, Reduce::sum, true, Direction::forward, false}).heads == 2;
}

bool has_reduce(Op op) {
    return forward_of(op) == Op::spmm;
}

}  // namespace

void add_problem_options(Options& options, const std::string& dims) {
    options.group("Problems")
        .add_options()("op", value("LIST", "spmm"), "ops, or all (gnntune list ops)")(
            "dim", value("LIST", dims), "feature dimensions k, such as 16,32,64")(
            "heads", value("LIST", "1"),
            "heads of attention and edge_softmax, of sddmm's products, of weighted spmm's weights, and of gradients; "
            "other heads of spmm are a wider k")("weights", value("WHICH", "yes"),
                                                 "edge weights: yes (random where the graph has none), no or both")(
            "direction", value("WHICH", "forward"), "forward (A), reversed (A transposed) or both")(
            "dtype", value("LIST", "f32"), "storage of features, weights and results: f32, f16, bf16")(
            "reduce", value("LIST", "sum"), "sum, mean, max or a list of them: spmm and its gradient")(
            "self-loop", value("WHICH", "no"), "every vertex is its own neighbour too: yes, no or both");
}

std::vector<Problem> problems(const Parsed& parsed) {
    const std::vector<Op> ops = parsed.ops("op");
    const auto some = [&](bool (*has)(Op)) { return std::any_of(ops.begin(), ops.end(), has); };
    const auto heads = parsed.integers("heads", 1, 1 << 16);
    if (std::any_of(heads.begin(), heads.end(), [](std::int64_t h) { return h > 1; }) && !some(has_heads)) {
        throw invalid_argument("--heads is for spmm, sddmm, attention and edge_softmax, and --op is '" +
                               parsed.text("op") + "'");
    }
    const auto reduces = parsed.reduces("reduce");
    if (std::any_of(reduces.begin(), reduces.end(), [](Reduce r) { return r != Reduce::sum; }) && !some(has_reduce)) {
        throw invalid_argument("--reduce is for spmm and its gradient, and --op is '" + parsed.text("op") + "'");
    }
    return problems(parsed, ops);
}

std::string problem_options(const Parsed& parsed) {
    std::string text = "--op " + parsed.text("op") + " --dim " + parsed.text("dim");
    constexpr std::pair<const char*, std::string_view> kDefaults[] = {{"heads", "1"},           {"weights", "yes"},
                                                                      {"direction", "forward"}, {"dtype", "f32"},
                                                                      {"reduce", "sum"},        {"self-loop", "no"}};
    for (const auto& [name, usual] : kDefaults) {
        if (parsed.text(name) != usual) text += fmt::format(" --{} {}", name, parsed.text(name));
    }
    return text;
}

std::vector<Problem> problems(const Parsed& parsed, const std::vector<Op>& ops) {
    std::vector<Problem> out;
    const auto directions = either(parsed, "direction", "forward", Direction::forward, "reversed", Direction::reversed);
    const auto weights = either(parsed, "weights", "yes", true, "no", false);
    const auto self_loops = either(parsed, "self-loop", "no", false, "yes", true);
    const auto dims = parsed.integers("dim", 1, 1 << 20);
    const auto heads = parsed.integers("heads", 1, 1 << 16);
    const auto reduces = parsed.reduces("reduce");
    const auto dtypes = parsed.dtypes("dtype");
    // The nesting is the order in which problems are tuned and shown.
    const auto add = [&](Problem p) {
        const Problem typed = p;
        p = normalised(p);
        // Of "both" maxima have the one without.
        if (p.reduce == Reduce::max && p.self_loop && self_loops.size() > 1) return;
        try {
            validate(p);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
            throw invalid_argument(fmt::format("--dim {} with --heads {}, of {}: {}; give smaller ones", typed.k,
                                               typed.heads, to_text(typed.op), error.what()));
        }
        if (std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
    };
    for (const Op op : ops) {
        for (const DType dtype : dtypes) {
            for (const Direction direction : directions) {
                for (const bool weighted : weights) {
                    for (const bool self_loop : self_loops) {
                        for (const Reduce reduce : reduces) {
                            for (const std::int64_t h : heads) {
                                for (const std::int64_t k : dims) {
                                    add({op, static_cast<std::int32_t>(k), static_cast<std::int32_t>(h), dtype, reduce,
                                         weighted, direction, self_loop});
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    if (out.empty()) throw invalid_argument("--op and --dim leave nothing to do; give at least one of each");
    return out;
}

void add_timing_options(Options& options) {
    options.group("Timing").add_options()(
        "policy", value("WHICH", "hot"),
        "hot (inputs as the last run left them), cold (L2 flushed), both of these, graph (hot, in a CUDA graph) or "
        "a list")("clock", value("WHICH", "auto"),
                  "span (CUPTI), events (CUDA events) or both; auto: span where CUPTI allows it, else events");
}

std::vector<Policy> policies(const Parsed& parsed) {
    if (parsed.text("policy") == "both") return {Policy::hot, Policy::cold};
    std::vector<Policy> out;
    for (const std::string& word : parsed.list("policy")) {
        const auto policy = parse_policy(word);
        if (!policy) {
            throw invalid_argument("--policy: expected hot, cold, graph, both or a list of them, not '" +
                                   parsed.text("policy") + "'");
        }
        if (std::find(out.begin(), out.end(), *policy) == out.end()) out.push_back(*policy);
    }
    if (out.empty()) throw invalid_argument("--policy: expected hot, cold, graph, both or a list of them");
    return out;
}

Policy one_policy(const Parsed& parsed) {
    const std::vector<Policy> asked = policies(parsed);
    if (asked.size() != 1) {
        throw invalid_argument("--policy: expected one of hot, cold or graph here, not '" + parsed.text("policy") +
                               "'");
    }
    return asked.front();
}

std::vector<Policy> policies(const Parsed& parsed, const Device& device) {
    std::vector<Policy> out = policies(parsed);
    if (device.backend == Backend::cpu && std::find(out.begin(), out.end(), Policy::graph) != out.end()) {
        throw invalid_argument("--policy graph times CUDA graphs, and the device is the CPU; give --device cuda");
    }
    return out;
}

std::string timing_text(const Parsed& parsed) {
    const std::string clock = parsed.text("clock");
    return fmt::format("policy {}{}", to_text(one_policy(parsed)),
                       clock == "auto" || clock == "both" ? "" : ", clock " + clock);
}

std::vector<Clock> clocks(const Parsed& parsed, const Device& device, Output& out) {
    const std::string text = parsed.text("clock");
    const bool automatic = text == "auto";
    std::vector<Clock> wanted;
    if (!automatic && text != "span" && text != "events" && text != "both") {
        throw invalid_argument("--clock is '" + text + "', expected auto, span, events or both");
    }
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
            "max-error", value("E", "0"), "largest error of reduced-precision and sampling configs that may be chosen")(
            "allow-sampling", boost::program_options::bool_switch(),
            "configs that drop edges by design are measured and may be chosen, within --max-error")(
            "workspace-limit", value("BYTES"), "most workspace a config may need, such as 64MiB");
}

Constraints constraints(const Parsed& parsed) {
    Constraints c;
    c.deterministic = parsed.flag("deterministic");
    c.allow_sampling = parsed.flag("allow-sampling");
    c.expected_calls = parsed.real("expected-calls", 1e-9, 1e18).value_or(c.expected_calls);
    c.max_error = parsed.real("max-error", 0, 1e9).value_or(0);
    if (c.allow_sampling && c.max_error <= 0) {
        throw invalid_argument("--allow-sampling needs --max-error E above 0: every sample leaves an error");
    }
    if (const auto bytes = parsed.bytes("workspace-limit")) c.workspace_limit_bytes = static_cast<std::size_t>(*bytes);
    return c;
}

namespace {

// Why a variant that was named has nothing to do; empty if it has.
std::string idle(const Variant& v, const std::vector<Problem>& problems, const Device& device, bool sampling) {
    const bool asked = std::any_of(problems.begin(), problems.end(), [&](const Problem& p) { return p.op == v.op; });
    if (!asked) {
        return fmt::format("{} computes {}, which --op does not ask for; add --op {}", v.id, to_text(v.op),
                           to_text(v.op));
    }
    if (v.backend != device.backend) {
        return fmt::format("{} runs on {}, and the device is {}; give --device {}", v.id, to_text(v.backend),
                           to_text(device.backend), to_text(v.backend));
    }
    if (v.sampling && !sampling) return fmt::format("{} drops edges by design; add --allow-sampling", v.id);
    return {};
}

}  // namespace

// Ids are looked up here, so that a misspelt one is not taken for one that refuses.
std::vector<std::string> named_variants(const Parsed& parsed, const std::vector<Problem>& problems,
                                        const Device& device, bool sampling, Output& out) {
    if (const std::string text = parsed.text("variant"); text.find('{') != std::string::npos) {
        throw invalid_argument(
            fmt::format("--variant: expected variants without params, such as spmm.cpu_rows, not '{}'; configs are for "
                        "gnntune profile --config",
                        text));
    }
    std::vector<std::string> known;
    for (const Variant& v : registry().variants()) known.emplace_back(v.id);
    std::vector<std::string> useful;
    std::vector<std::string> reasons;
    for (const std::string& id : parsed.list("variant")) {
        const Variant* v = registry().find(id);
        if (!v) {
            throw invalid_argument(fmt::format("--variant: this build{} has no '{}'{} (gnntune list)",
                                               built_with_cuda() ? "" : ", which is one without CUDA,", id,
                                               did_you_mean(id, known)));
        }
        std::string reason = idle(*v, problems, device, sampling);
        if (reason.empty()) {
            useful.push_back(id);
        } else {
            reasons.push_back("--variant: " + std::move(reason));
        }
    }
    if (useful.empty() && !reasons.empty()) throw unsupported(joined(reasons, "; "));
    for (const std::string& reason : reasons) out.warn(reason);
    return useful;
}

std::string short_problem(const Problem& p) {
    std::string text = std::string(to_text(p.op)) + " k=" + std::to_string(p.k);
    if (p.heads != 1) text += " heads=" + std::to_string(p.heads);
    if (p.dtype != DType::f32) text += " " + std::string(to_text(p.dtype));
    if (p.reduce != Reduce::sum) text += " " + std::string(to_text(p.reduce));
    if (p.self_loop) text += " self_loop";
    Problem with_weights = p;
    with_weights.weighted = true;
    if (!p.weighted && normalised(with_weights).weighted) text += " unweighted";
    if (p.direction == Direction::reversed) text += " reversed";
    return text;
}

}  // namespace gnntune::tools
