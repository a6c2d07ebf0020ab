// The rows of a database as candidates of the choosing rule: one at a time for a choice, all of them for its
// explanation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// The rows that answered, all of them, as they were when the choice was made.
struct Review {
    std::vector<Candidate> candidates;  ///< usable rows
    Decision decision;                  ///< over `candidates`
    std::vector<Miss> misses;           ///< configs that could not be candidates, or whose plan could not be built
    std::string why;                    ///< one sentence
};

/// A row as a candidate for `query`, with the parts that it was measured with, or nothing with the reason if it does not count here.
std::optional<Candidate> candidate_of(const Context& context, const Query& query, const Story& story,
                                      const store::SnapshotRow& row, std::string& reason);

Review review(const Context& context, Graph& graph, const Story& story);

}  // namespace gnntune::library
