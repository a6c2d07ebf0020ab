// The questions that stand in a database, with the errata that hold where they are asked.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "profiles/store/store.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

class StoredQueries {
public:
    /// Warns of errata that are not understood.
    StoredQueries(const store::Store& store, Output& out);

    /// Without features. Nothing if this build cannot read the graph, the environment or the problem. It points into
    /// this.
    std::optional<Query> query(const store::Key& key) const;
    /// The record of a graph that query() knows.
    const GraphRecord& graph(const store::Key& key) const { return graphs_.at(key.graph); }

    /// Why errata keep a config from running there; empty if none does. Of variants that this build does not have it
    /// cannot be told.
    std::string held_back(const store::Key& key, const Config& config, const std::vector<PartVersion>& parts) const;
    std::string held_back(const store::BestRow& row) const;

    /// The time of the fastest exact fp32 config of the backend's library for the problem of `row`: of cuSPARSE as the
    /// view `best` has it, on the CPU of what this build knows as a library. Nothing if none counts.
    std::optional<double> best_library_us(const store::Store& store, const store::BestRow& row) const;

private:
    std::map<std::int64_t, GraphRecord> graphs_;
    std::map<std::int64_t, Device> devices_;
    std::map<std::int64_t, Problem> problems_;
};

}  // namespace gnntune::tools
