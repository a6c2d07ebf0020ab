// What a search is told of a problem's configs: whether they may be chosen, and what a cost model expects of them.
#pragma once

#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/model/model.hpp"
#include "core/registry/measurement.hpp"
#include "tuner/measuring/search.hpp"

namespace gnntune::tuner {

/// Whether a config could be chosen, as far as its record tells before it was measured.
bool may_be_chosen(const Variant& variant, const Params& params, const Constraints& constraints);

struct Outlook {
    const model::Model* model = nullptr;  ///< null: nothing is predicted
    DeviceConstants constants;
    Constraints constraints;
    std::vector<FormatBuild> builds;  ///< of the graph, where they were measured
};

/// `configs` of a problem for a Search, in their order, none of them `first`. Times are those of one call, with a share
/// of what building costs: per_call_us(). The query has features and a device.
std::vector<SearchConfig> search_configs(const Registry& registry, const Query& query,
                                         const std::vector<Config>& configs, const Outlook& outlook);

/// What choices go by: the time of a call, and building spread over the expected calls.
double per_call_us(double us, double build_us, const Constraints& constraints);

/// About how many of `configs` a search without a limit measures, for plans and progress.
std::size_t expected_search(std::size_t configs, bool with_model);

}  // namespace gnntune::tuner
