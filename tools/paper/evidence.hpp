// The database as a sheet asks it: the fastest measured config that fits a term, and what graphs are known.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/registry/registry.hpp"
#include "profiles/store/store.hpp"
#include "tools/paper/data.hpp"

namespace gnntune::tools::paper {

/// Where times come from. They are never taken from two of these in one sheet.
struct Source {
    std::int64_t environment = 0;
    std::string device;
    Clock clock = Clock::span;
};

struct KnownGraph {
    std::optional<std::int64_t> id;  ///< in the database
    std::int64_t n_rows = 0;
    std::int64_t m = 0;
    std::string features_json;
};

/// The answer to "how long does this take?".
struct Timed {
    std::optional<Measurement> fastest;  ///< ok, or abandoned where no config that fits was timed to the end
    std::string why_not;                 ///< why there is none although it was tried; empty: it was not tried
    bool few_samples() const { return fastest && fastest->status == MeasurementStatus::abandoned; }
};

class Evidence {
public:
    /// Policy hot only. Both are borrowed; `store` may be null: then there is nothing but graphs from files.
    Evidence(const Registry& registry, const store::Store* store);

    /// A graph from a file. The database's row with its fingerprint is taken for it, whatever name stands there.
    void add_graph(const GraphRecord& record);
    /// Of that name; null if neither the database nor add_graph() had it.
    const KnownGraph* graph(const std::string& name) const;

    /// Environments of the database by clocks, best clock first, newest environment first.
    const std::vector<Source>& sources() const { return sources_; }
    const std::vector<FormatBuild>& builds(std::int64_t graph, const Source& source);
    /// Newest row of each config under its variant's newest version, in any status.
    const std::vector<Measurement>& rows(std::int64_t graph, const Source& source, const Problem& problem);
    /// `problem` is the term's, with its k filled in.
    Timed fastest(std::int64_t graph, const Source& source, const Term& term, const Problem& problem);
    /// The fastest that was timed to the end and has counters.
    std::optional<Measurement> counted(std::int64_t graph, const Source& source, const Term& term,
                                       const Problem& problem);

    const Registry& registry() const { return registry_; }
    const store::Store* store() const { return store_; }

private:
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Clock>;

    bool stands(const Measurement& m, const std::map<std::string, std::int32_t>& newest) const;

    const Registry& registry_;
    const store::Store* store_;
    std::map<std::string, KnownGraph> graphs_;
    std::vector<Source> sources_;
    std::map<Key, std::vector<Measurement>> rows_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<FormatBuild>> builds_;
};

}  // namespace gnntune::tools::paper
