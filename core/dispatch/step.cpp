#include "core/dispatch/step.hpp"

#include <algorithm>
#include <array>

#include "core/common/numbers.hpp"

namespace gnntune {
namespace {

constexpr std::array<std::string_view, 3> kModels{"gcn", "gat", "agnn"};

/// A run of some problem in some layer.
struct Run {
    Problem problem;
    std::string_view what;
    std::size_t layer = 0;  ///< from 1; 0: of the graph
};

/// What a layer sums: features, and whether anything needs the gradient of that sum.
struct Summed {
    LayerWidth width;
    bool backward = true;
};

Summed summed_by(const Step& step, std::size_t layer) {
    const LayerWidth out = step.layers[layer];
    if (step.features == 0) return {out};
    const std::int32_t in = layer == 0 ? step.features : step.layers[layer - 1].k;
    // Two sums of what came out of the product, or one of the input; else two either way.
    if (layer == 0) return in <= 2 * out.k ? Summed{{in, 1}, false} : Summed{out};
    return {{std::min(in, out.k), 1}};
}

std::vector<Run> runs_of(const Step& step) {
    std::vector<Run> runs;
    const auto problem = [](Op op, const LayerWidth& width) {
        return normalised({op, width.k, width.heads, DType::f32, Reduce::sum, false, Direction::forward, false});
    };
    const auto add = [&](Problem p, std::string_view what, std::size_t layer) { runs.push_back({p, what, layer}); };
    const auto op_of = [&](bool backward) {
        if (step.model == StepModel::gat) return backward ? Op::gat_grad : Op::gat;
        if (step.model == StepModel::agnn) return backward ? Op::agnn_grad : Op::agnn;
        return Op::spmm;
    };
    if (step.model == StepModel::gcn) add(problem(Op::gcn_norm, {}), "normalisation", 0);
    for (const bool backward : {false, true}) {
        for (std::size_t i = 0; i < step.layers.size(); ++i) {
            const std::size_t layer = backward ? step.layers.size() - 1 - i : i;
            const Summed summed = summed_by(step, layer);
            if (backward && !summed.backward) continue;
            Problem p = problem(op_of(backward), summed.width);
            if (step.model == StepModel::gcn) {
                p.weighted = true;
                p.self_loop = true;
                p.direction = backward ? Direction::reversed : Direction::forward;
            }
            add(p, backward ? "backward" : "forward", layer + 1);
        }
    }
    return runs;
}

std::string role_of(std::string_view what, std::vector<std::size_t> layers) {
    if (layers.front() == 0) return std::string(what) + ", once";
    std::sort(layers.begin(), layers.end());
    std::string text = std::string(what) + (layers.size() == 1 ? " of layer " : " of layers ");
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (i > 0) text += i + 1 == layers.size() ? " and " : ", ";
        text += std::to_string(layers[i]);
    }
    return text;
}

}  // namespace

std::string_view to_text(StepModel model) {
    return kModels[static_cast<std::size_t>(model)];
}

std::optional<StepModel> parse_step_model(std::string_view text) {
    const auto found = std::find(kModels.begin(), kModels.end(), text);
    if (found == kModels.end()) return std::nullopt;
    return static_cast<StepModel>(found - kModels.begin());
}

std::string to_text(const Step& step) {
    std::string text(to_text(step.model));
    char between = ' ';
    if (step.features > 0) {
        text += between + std::to_string(step.features);
        between = ':';
    }
    for (const LayerWidth& width : step.layers) {
        text += between;
        text += std::to_string(width.k);
        if (width.heads != 1) text.append("x").append(std::to_string(width.heads));
        between = ',';
    }
    return text;
}

std::optional<Step> parse_step(std::string_view text) {
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const auto model = parse_step_model(text.substr(0, blank));
    if (!model) return std::nullopt;
    Step step{*model, {}, 0};
    std::string_view rest = text.substr(blank + 1);
    if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
        const auto features = parse_number<std::int32_t>(rest.substr(0, colon));
        if (!features || *features < 1) return std::nullopt;
        step.features = *features;
        rest.remove_prefix(colon + 1);
    }
    for (;;) {
        const auto comma = std::min(rest.find(','), rest.size());
        const std::string_view width = rest.substr(0, comma);
        const auto cross = std::min(width.find('x'), width.size());
        const auto k = parse_number<std::int32_t>(width.substr(0, cross));
        const auto heads = cross < width.size() ? parse_number<std::int32_t>(width.substr(cross + 1)) : 1;
        if (!k || !heads || *k < 1 || *heads < 1) return std::nullopt;
        step.layers.push_back({*k, *heads});
        if (comma == rest.size()) break;
        rest.remove_prefix(comma + 1);
    }
    if (to_text(step) != text) return std::nullopt;
    return step;
}

std::vector<StepCall> calls_of(const Step& step) {
    std::vector<StepCall> calls;
    std::vector<std::vector<std::size_t>> layers;
    const std::vector<Run> runs = runs_of(step);
    for (const Run& run : runs) {
        const auto found =
            std::find_if(calls.begin(), calls.end(), [&](const StepCall& c) { return c.problem == run.problem; });
        const auto at = static_cast<std::size_t>(found - calls.begin());
        if (found == calls.end()) {
            calls.push_back({std::string(run.what), run.problem, 0, 0});
            layers.emplace_back();
        }
        ++(run.layer == 0 ? calls[at].runs_per_graph : calls[at].runs_per_step);
        layers[at].push_back(run.layer);
    }
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].role = role_of(calls[i].role, layers[i]);
    return calls;
}

}  // namespace gnntune
