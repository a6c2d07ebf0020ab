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

namespace gnntune::library {

class Binding;
class PlanMemo;
struct Tuning;

struct Request {
    Problem problem;
    Constraints constraints;
    Policy policy = Policy::hot;
    std::optional<Config> named;  ///< the config to run; its left-out params have their defaults

    bool operator==(const Request&) const = default;
};

enum class Source { database, tuned, model, fallback, named, forced };
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
    /// What the database says of the graph and problem. Never null.
    std::shared_ptr<const store::SnapshotAnswers> answers;
    /// Its rows under the policy; null if it has none. Lives as long as `answers`.
    const store::SnapshotEntry* entry = nullptr;
    PresentFormats present;            ///< when the rows were looked at
    bool knew_features = false;        ///< of the graph, then
    std::optional<Forecast> forecast;  ///< null if the database answered, or a config was forced
    std::vector<std::pair<std::size_t, std::string>>
        failed_rows;           ///< of `entry`, whose plan could not be built, and why
    std::vector<Miss> misses;  ///< other configs whose plan could not be built
    /// What measuring came to: for this choice, or for an earlier one of the context that has left the rows. Null where
    /// nothing was missed.
    std::shared_ptr<const Tuning> tuning;
    double tuned_us = 0;  ///< that this choice has spent on measuring, or on waiting for another that did
    /// For a transient graph: what was decided on an earlier one of its bucket, and the bucket; null if on this one.
    std::shared_ptr<const Story> like;
    std::string bucket;   ///< of a transient graph, in words; empty: it is none
    std::string erratum;  ///< that a forced config is under, in words; empty: none
};

struct Outcome {
    std::shared_ptr<CountingMemory> memory;  ///< that the plan holds beside its formats
    std::unique_ptr<Plan> plan;
    std::shared_ptr<const Binding> binding;  ///< of the problem on the graph
    std::shared_ptr<const Story> story;
    double tuned_us = 0;  ///< of the story if it was made for this plan
};

/// A plan of one config, or nothing with the reason if this config cannot be had here but another may be.
struct Trial {
    std::shared_ptr<CountingMemory> memory;
    std::unique_ptr<Plan> plan;
    std::string reason;
    bool out_of_memory = false;
};
Trial try_plan(const Context& context, Graph& graph, const Request& request, const Config& config, StreamHandle stream);

/// Asks database, measuring (Sources::tune_on_miss), model and default, in this order, and fills in `story`, which has
/// its request, answers, entry and present formats. Sets `ran_out` if a config was passed over for want of memory.
/// Throws as make_plan.
Trial choose_and_plan(const Context& context, Graph& graph, StreamHandle stream, Story& story, bool& ran_out);

/// `memo` has what was chosen on this graph before, for as long as nothing has changed that the choice depends on.
/// Throws ErrorKind::unsupported listing the refusals if nothing can do it. May allocate and synchronise.
Outcome make_plan(const Context& context, Graph& graph, PlanMemo& memo, const Request& request, StreamHandle stream);

}  // namespace gnntune::library
