// From a problem to a plan: which sources are asked, and in which order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dispatch/plan.hpp"
#include "profiles/library/context.hpp"
#include "profiles/library/forecast.hpp"
#include "profiles/library/run.hpp"

namespace gnntune::library {

class PlanMemo;

struct Request {
    Problem problem;
    Constraints constraints;
    Policy policy = Policy::hot;

    bool operator==(const Request&) const = default;
};

enum class Source { database, model, fallback, forced };
std::string_view to_text(Source source);

/// A config that did not come into question, and why.
struct Miss {
    std::string config;
    std::string reason;
};

/// What a config was chosen by: enough to tell the whole story when somebody asks (review.hpp). Immutable once made.
struct Story {
    Request request;
    Source source = Source::fallback;
    Config config;
    std::shared_ptr<const Binding> binding;
    /// What the database says of the graph and problem. Never null.
    std::shared_ptr<const store::SnapshotAnswers> answers;
    /// Its rows under the policy; null if it has none. Lives as long as `answers`.
    const store::SnapshotEntry* entry = nullptr;
    PresentFormats present;      ///< when the rows were looked at
    bool knew_features = false;  ///< of the graph, then
    std::optional<Forecast> forecast;   ///< null if the database answered, or a config was forced
    std::vector<std::pair<std::size_t, std::string>> failed_rows;  ///< of `entry`, whose plan could not be built, and why
    std::vector<Miss> misses;           ///< other configs whose plan could not be built
};

struct Outcome {
    std::unique_ptr<Plan> plan;
    std::shared_ptr<const Story> story;
};

/// `memo` has what was chosen on this graph before, for as long as nothing has changed that the choice depends on.
/// Throws ErrorKind::unsupported listing the refusals if nothing can do it. May allocate and synchronise.
Outcome make_plan(const Context& context, Graph& graph, PlanMemo& memo, const Request& request, StreamHandle stream);

}  // namespace gnntune::library
