// What `bench --compare` holds new times against: the measurements of a database.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiles/store/store.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"
#include "tuner/compare.hpp"
#include "tuner/measuring/measure.hpp"

namespace gnntune::tools {

class Reference {
public:
    /// The database of --compare, if it is given. Throws ErrorKind::invalid_argument if --across or --fail-on is given
    /// without it, ErrorKind::database if it cannot be read.
    explicit Reference(const Parsed& parsed);

    bool given() const { return store_.has_value(); }

    /// Columns for each config behind those of the times, and its cells; null: not timed in the database.
    static const std::vector<Column>& columns();
    static std::vector<Cell> cells(const tuner::Pair* pair);

    /// Judges the measurements of one problem, policy and clock; by config.
    std::map<std::string, tuner::Pair> judge(const Fingerprint& fingerprint, const std::string& graph,
                                             const Environment& environment, const Problem& problem,
                                             const std::vector<tuner::Contender>& measured);

    /// Says on stderr what came of all of it; the exit code that --fail-on asks for.
    int report(const Parsed& parsed, Output& out) const;

private:
    bool across_;
    std::string path_;
    std::optional<store::Store> store_;
    tuner::Comparison all_;
};

}  // namespace gnntune::tools
