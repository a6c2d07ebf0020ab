// A training step of a model, as the list of its sparse ops: what is chosen together because it runs on one graph.
// docs/tuning.md, "A whole training step", says why each holds what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/op.hpp"

namespace gnntune {

enum class StepModel : std::int32_t { gcn, gat, agnn };
std::string_view to_text(StepModel model);
std::optional<StepModel> parse_step_model(std::string_view text);

/// Width of the features that a layer's sparse ops work on: k for each head.
struct LayerWidth {
    std::int32_t k = 1;
    std::int32_t heads = 1;
    bool operator==(const LayerWidth&) const = default;
};

struct Step {
    StepModel model = StepModel::gcn;
    std::vector<LayerWidth> layers;  ///< from the input to the output; never empty
    /// gcn: width of the input. `layers` are output widths then, and each layer multiplies by its weights before it sums
    /// or after, whichever sums fewer features in a step; input features want no gradient. 0: every layer multiplies first.
    std::int32_t features = 0;
    bool operator==(const Step&) const = default;
};

/// "gcn 64,64"; heads behind an x where there are several: "gat 8x8,7"; the input's width before a colon: "gcn 29:16,7".
/// Identity of a step in the store.
std::string to_text(const Step& step);
/// What to_text() made; nothing of any other text.
std::optional<Step> parse_step(std::string_view text);

/// Sparse ops of one step that are one problem, and so share a plan.
struct StepCall {
    std::string role;  ///< "forward of layers 1 and 2"
    Problem problem;
    int runs_per_step = 0;
    int runs_per_graph = 0;  ///< once, before the first step
};

/// In the order of their first run.
std::vector<StepCall> calls_of(const Step& step);

}  // namespace gnntune
