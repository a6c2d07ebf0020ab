// From a problem to a plan: which sources are asked, in which order, and what each said.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/dispatch/plan.hpp"
#include "profiles/library/context.hpp"
#include "profiles/library/forecast.hpp"

namespace gnntune::library {

struct Request {
    Problem problem;
    Constraints constraints;
    Policy policy = Policy::hot;
};

enum class Source { database, model, fallback, forced };
std::string_view to_text(Source source);

/// A config that did not come into question, and why.
struct Miss {
    std::string config;
    std::string reason;
};

/// A plan and the story of its choice.
struct Outcome {
    std::unique_ptr<Plan> plan;
    Source source = Source::fallback;
    std::string why;  ///< one sentence
    /// The rows that answered; null if the database had none. Lives as long as the context's snapshot.
    const store::SnapshotEntry* entry = nullptr;
    std::vector<Candidate> candidates;  ///< usable rows
    Decision decision;                  ///< over `candidates`
    std::optional<Forecast> forecast;   ///< null if the database answered, or a config was forced
    std::vector<Miss> misses;           ///< configs that could not be candidates, or whose plan could not be built
};

/// Throws ErrorKind::unsupported listing the refusals if nothing can do it. May allocate and synchronise.
Outcome make_plan(const Context& context, Graph& graph, const Request& request, StreamHandle stream);

}  // namespace gnntune::library
