// What the cost model of the database says of a problem that was not measured.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/advise.hpp"
#include "core/registry/graph.hpp"
#include "profiles/library/context.hpp"

namespace gnntune::library {

struct Forecast {
    const store::SnapshotModel* origin = nullptr;  ///< null: none was asked, and `why` says for which reason
    std::string why;                               ///< one sentence
    Advice advice;
    std::shared_ptr<const Prospects> prospects;  ///< whose candidates the advice is about
    std::optional<Expected> chosen;  ///< what the plan's config is expected to take; none: it is not the model's choice
    double features_us = 0;          ///< finding the features of the graph; 0: they were known
    double asked_us = 0;             ///< predicting every config and applying the rule
};

/// Asks the model, if the context goes by one and there is one for the problem. Finds the features of the graph if the
/// query has none yet: then it synchronises, and the query has them. `builds`: what building formats cost on this graph; null if nobody
/// measured.
Forecast ask_model(const Context& context, Graph& graph, Query& query, const Constraints& constraints, Policy policy,
                   const std::vector<FormatBuild>* builds);

}  // namespace gnntune::library
