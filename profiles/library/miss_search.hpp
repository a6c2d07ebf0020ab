// The measuring of Sources::tune_on_miss: the tuner's search and its loop, on operands that live for as long, until the
// budget is spent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/registry/graph.hpp"
#include "profiles/library/dispatch.hpp"
#include "tuner/measuring/measure.hpp"
#include "tuner/measuring/search.hpp"

namespace gnntune::library {

/// Of the values that operands are filled with.
inline constexpr std::uint64_t kMissSeed = 1;

/// What was measured and what was chosen of it.
struct Measured {
    store::LearnedRows rows;
    std::optional<Choice> choice;  ///< under the constraints of the request; none if they refuse every row
};

class MissSearch {
public:
    /// The budget of the context begins here, once the features of the graph are known and its arrays are on the host.
    /// Throws Error in words if the problem cannot be measured here, also if checking one config alone is expected to
    /// take longer than the budget, and if memory runs out.
    MissSearch(const Context& context, Graph& graph, const Request& request);

    /// Checks and times the default and what the cost model and the times so far promise, until nothing promises a gain
    /// or the budget is spent; it overruns by a config's check or a burst of calls at most. Throws Error.
    void run();

    std::size_t configs() const { return contenders_.size(); }
    /// Configs that were timed.
    std::size_t timed() const;
    /// Configs that could not be timed, since other programs had the processor.
    std::size_t disturbed() const;
    /// Why the rows are not enough to go by; empty if they are.
    std::string why_not() const;
    Measured take();

private:
    bool stopped() const { return std::chrono::steady_clock::now() >= deadline_; }
    std::set<std::string, std::less<>> measured_variants() const;
    std::vector<tuner::SearchConfig> search_configs(const Query& query);
    double built_us(const Config& config);

    const Context& context_;
    const Request& request_;
    Graph& asked_;
    std::unique_ptr<tuner::GraphWorkload> graph_;
    std::chrono::steady_clock::time_point deadline_;
    std::unique_ptr<tuner::ProblemWorkload> workload_;
    std::unique_ptr<tuner::Stopwatch> stopwatch_;
    std::vector<tuner::SearchConfig> contenders_;
    std::vector<Measurement> rows_;
    std::set<std::string> held_back_by_;  // conditions of errata
    bool complete_ = false;               // the search has ended before the budget
};

}  // namespace gnntune::library
