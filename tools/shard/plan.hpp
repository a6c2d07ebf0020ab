// What several processes do together: the same for all of them, cut into units, and which unit a process takes up next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/registry/op.hpp"

namespace gnntune::tools::shard {

/// A graph and problems of it that one process measures.
struct Unit {
    std::size_t graph = 0;              ///< of Plan::graphs
    std::vector<std::size_t> problems;  ///< of those that the options ask for
    double cost = 0;                    ///< of one to another; a guess, which decides about the order only
};

struct PlannedGraph {
    std::string source;      ///< as it was named or found
    std::int64_t bytes = 0;  ///< of the file, as it stands there; 0 where there is none
};

struct Plan {
    std::string build;        ///< "gnntune 0.1.0 (6fcf5c76be03)"
    std::string device;       ///< every field of its environment: what is measured counts for that
    std::string options;      ///< those that change what is measured or chosen, in one order
    Constraints constraints;  ///< of them, those of the choice
    std::vector<PlannedGraph> graphs;
    std::vector<Unit> units;
    int ranks = 0;  ///< of the process that made it; 0: it did not know
};

std::string to_json(const Plan& plan);
/// Throws ErrorKind::input in words that name `path` if it is no plan.
Plan plan_from(const std::string& json, const std::string& path);
/// What of `mine` is not as in `theirs`, in words that name both; empty if all is. The numbers of ranks may differ.
std::string difference(const Plan& theirs, const Plan& mine);

/// Edges of a graph in a file of so many bytes, about.
double guessed_edges(const std::string& source, std::int64_t bytes);
/// What problems of that width on a graph of so many edges cost: about seconds of an H200 that measures every config
/// (tools/shard-forecast has the fit).
double guessed_cost(double edges, double width);

enum class State : char { open, begun, left, done };

/// How far a unit is.
struct Progress {
    State state = State::open;
    int rank = 0;   ///< that begun, left or did it
    int tries = 0;  ///< how often it was begun

    bool operator==(const Progress&) const = default;
};

/// What a process goes by.
struct Outlook {
    int rank = 0;                      ///< its own
    std::optional<std::size_t> graph;  ///< that it holds in memory
    std::vector<bool> running;         ///< of each rank, whether a process has it
    const std::vector<Progress>* at_start =
        nullptr;  ///< how far all was when it began: what was left then is tried again
};

/// The next unit: what this rank has begun; else one of the graph that it holds; else the one that costs most of the graph
/// that costs most, of those that nobody works on; else one that somebody works on. So a graph is read once, until the end,
/// when those that have nothing else help. What a rank that does not run has begun counts as open. Nothing if nothing is
/// left.
std::optional<std::size_t> next_unit(const Plan& plan, const std::vector<Progress>& progress, const Outlook& outlook);

}  // namespace gnntune::tools::shard
