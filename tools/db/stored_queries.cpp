#include "tools/db/stored_queries.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "core/dispatch/candidates.hpp"
#include "core/dispatch/plan.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/program.hpp"
#include "tuner/training.hpp"

namespace gnntune::tools {

StoredQueries::StoredQueries(const store::Store& store, Output& out) {
    const auto errata =
        store::errata_of(store::layers_over(store.path()), [&out](const std::string& sentence) { out.warn(sentence); });
    for (const auto& row : store.graphs()) graphs_.emplace(row.id, row.record);
    for (const auto& row : store.environments()) {
        devices_.emplace(row.id, tuner::device_of(row.environment)).first->second.errata = errata;
    }
    for (const auto& row : store.problems()) problems_.emplace(row.id, row.problem);
}

std::optional<Query> StoredQueries::query(const store::Key& key) const {
    const auto graph = graphs_.find(key.graph);
    const auto device = devices_.find(key.environment);
    const auto problem = problems_.find(key.problem);
    if (graph == graphs_.end() || device == devices_.end() || problem == problems_.end()) return std::nullopt;
    const GraphRecord& g = graph->second;
    const bool reversed = problem->second.direction == Direction::reversed;
    return Query{problem->second, reversed ? g.n_cols : g.n_rows, reversed ? g.n_rows : g.n_cols, g.m, nullptr,
                 &device->second};
}

std::string StoredQueries::held_back(const store::Key& key, const Config& config,
                                     const std::vector<PartVersion>& parts) const {
    const auto asked = query(key);
    const Variant* variant = registry().find(config.variant);
    if (!asked || !variant) return {};
    return erratum_words(registry(), *asked, *variant, config.params, parts);
}

std::string StoredQueries::held_back(const store::BestRow& row) const {
    try {
        return held_back(row.key, Config::parse(row.config), row.parts);
    } catch (const Error&) {
        return {};  // `db check` names it
    }
}

std::optional<double> StoredQueries::best_library_us(const store::Store& store, const store::BestRow& row) const {
    const auto asked = query(row.key);
    if (row.cusparse_us || !asked || asked->device->backend != Backend::cpu) return row.cusparse_us;
    std::optional<double> best;
    for (const Candidate& c :
         candidates_of(registry(), *asked, store.measurements(row.key, {row.policy, row.clock, {}}))) {
        if (!registry().find(c.config.variant)->baseline || c.precision != Precision::fp32 || c.approximate) continue;
        best = std::min(best.value_or(c.median_us), c.median_us);
    }
    return best;
}

}  // namespace gnntune::tools
