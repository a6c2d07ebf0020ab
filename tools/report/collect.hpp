// From a database to the numbers of a report.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"
#include "tools/report/data.hpp"

namespace gnntune::tools::report {

/// Timed configs up to which a model is judged without being asked for.
inline constexpr std::size_t kMostJudged = 20000;

struct CollectOptions {
    std::vector<std::int64_t> graphs;     ///< ids; empty: all
    const store::Store* score = nullptr;  ///< another run, by which choices are scored; null: the same
    /// Parts to split the graphs into to judge a model; 0: none is judged. Nothing: 5, unless that would take long.
    std::optional<int> folds;
    std::string tool;
    std::string made_at;
    /// How far a long part is; may be empty.
    std::function<void(std::size_t done, std::size_t total)> progress;
};

/// Reads all of it. What cannot be read because the file is damaged is left out and said in Report::damage; throws
/// what is wrong otherwise.
Report collect(const store::Store& store, const Registry& registry, const CollectOptions& options);

}  // namespace gnntune::tools::report
