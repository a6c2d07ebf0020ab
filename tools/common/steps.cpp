#include "tools/common/steps.hpp"

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/suggest.hpp"

namespace gnntune::tools {
namespace {

const std::vector<std::string> kModels{"gcn", "gat", "agnn"};

/// One value for every layer, or one for all.
std::vector<std::int64_t> by_layer(const std::vector<std::int64_t>& given, std::size_t layers, const char* option) {
    if (given.size() == 1) return std::vector<std::int64_t>(layers, given.front());
    if (given.size() == layers) return given;
    throw invalid_argument(
        fmt::format("{} has {} values for {} layers: give one, or one for each layer", option, given.size(), layers));
}

}  // namespace

void add_step_options(Options& options) {
    options.group("Whole training step")
        .add_options()("step", value("MODEL"),
                       "the sparse ops of a training step of gcn, gat or agnn, forward and backward, chosen together")(
            "layers", value("N"), "layers of the model; default: as many as --dim has widths, for one width 2")(
            "features", value("N"),
            "gcn: width of the input; --dim are the layers' output widths then, and each layer sums before or behind "
            "its "
            "product, whichever costs less")(
            "format-limit", value("BYTES"),
            "most memory of the formats of a step and its largest workspace together, such as 2GiB");
}

std::optional<Step> step_of(const Parsed& parsed) {
    const auto word = parsed.find("step");
    if (!word) {
        for (const char* option : {"layers", "features", "format-limit"}) {
            if (parsed.given(option)) {
                throw invalid_argument(fmt::format("--{} belongs to a whole step: give --step too", option));
            }
        }
        return std::nullopt;
    }
    const auto model = parse_step_model(*word);
    if (!model) {
        throw invalid_argument(
            fmt::format("--step is '{}', expected gcn, gat or agnn{}", *word, did_you_mean(*word, kModels)));
    }
    for (const char* option : {"op", "weights", "direction", "dtype", "reduce", "self-loop"}) {
        if (parsed.given(option)) {
            throw invalid_argument(
                fmt::format("--{} and --step contradict each other: a step says itself which "
                            "problems it has",
                            option));
        }
    }
    const auto dims = parsed.given("dim") ? parsed.integers("dim", 1, 1 << 20) : std::vector<std::int64_t>{64};
    if (dims.empty()) throw invalid_argument("--dim has no width; give one, or one for each layer");
    const std::int64_t standard = dims.size() == 1 ? 2 : static_cast<std::int64_t>(dims.size());
    const auto layers = static_cast<std::size_t>(parsed.integer("layers", 1, 1000).value_or(standard));
    const auto heads = parsed.integers("heads", 1, 1 << 16);
    if (heads.empty()) throw invalid_argument("--heads has no number; give one, or one for each layer");
    const auto all_dims = by_layer(dims, layers, "--dim");
    const auto all_heads = by_layer(heads, layers, "--heads");
    Step step{*model, {}, 0};
    if (const auto features = parsed.integer("features", 1, 1 << 20)) {
        if (*model != StepModel::gcn) {
            throw invalid_argument(
                fmt::format("--features: {} multiplies before its attention whatever the widths are; "
                            "leave it out",
                            to_text(*model)));
        }
        step.features = static_cast<std::int32_t>(*features);
    }
    for (std::size_t i = 0; i < layers; ++i) {
        if (*model == StepModel::gcn && all_heads[i] != 1) throw invalid_argument("--heads: gcn has no heads");
        step.layers.push_back({static_cast<std::int32_t>(all_dims[i]), static_cast<std::int32_t>(all_heads[i])});
    }
    return step;
}

StepLimits step_limits(const Parsed& parsed) {
    StepLimits limits;
    limits.constraints = constraints(parsed);
    if (const auto bytes = parsed.bytes("format-limit")) limits.format_bytes = static_cast<std::size_t>(*bytes);
    return limits;
}

std::vector<Problem> problems_of(const Step& step) {
    std::vector<Problem> problems;
    for (const StepCall& call : calls_of(step)) problems.push_back(call.problem);
    return problems;
}

}  // namespace gnntune::tools
