// Sources::tune_on_miss: measuring a problem on a graph that no database has, when a plan asks for it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/registry/graph.hpp"
#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// What it came to. Immutable once made.
struct Tuning {
    std::string why_not;         ///< why the snapshot did not learn any rows; empty if it did
    std::size_t measured = 0;    ///< configs that were timed
    std::size_t configs = 0;     ///< that come into question
    double spent_us = 0;         ///< of wall time, writing included
    double budget_us = 0;        ///< of measuring and checking
    std::string stored_in;       ///< the database that has the rows now; empty: none
    std::string why_not_stored;  ///< then
    bool ran_out = false;        ///< of memory
    bool passing = false;        ///< what failed may do better another time: memory, or a GPU that others measure on
};

/// Lines for people, without labels: "7 of 20 configs in 183 ms, stored in /home/me/user.db".
std::string to_text(const Tuning& tuning);

/// What a context has measured. Thread-safe.
class Tunings {
public:
    /// Measures the problem on the graph under the policy, within the context's budget, unless the context has done so
    /// before; has the context's snapshot learn the rows and writes them to the user's database. One at a time: two
    /// would disturb each other's times. Whatever goes wrong is a reason in the result. Synchronises.
    std::shared_ptr<const Tuning> tune(const Context& context, Graph& graph, const Request& request);

    /// What was done before, or null.
    std::shared_ptr<const Tuning> find(Graph& graph, const Request& request) const;

private:
    std::shared_ptr<const Tuning> find(const std::string& key) const;

    std::mutex turn_;  // held while measuring
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Tuning>> done_;
};

}  // namespace gnntune::library
