// Two sets of measurements side by side: what both have is judged (tuner/judge.hpp), what only one has is listed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiles/store/store.hpp"
#include "tuner/judge.hpp"

namespace gnntune::tuner {

/// A measurement with what it was taken of.
struct Recorded {
    Fingerprint fingerprint;
    std::string graph;  ///< its name
    Environment environment;
    Problem problem;
    Measurement measurement;
};

/// A choice that a store holds.
struct RecordedChoice {
    Fingerprint fingerprint;
    Environment environment;
    Problem problem;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    Config config;
};

/// One side of a comparison.
struct Side {
    std::vector<Recorded> measurements;  ///< in the order taken; of one attempt the last counts
    std::vector<RecordedChoice> choices;
};

/// Which part of a store to look at.
struct SideFilter {
    std::function<bool(const Fingerprint&)> graph;  ///< empty: all
    std::function<bool(const Problem&)> problem;    ///< empty: all
};
Side side_of(const store::Store& store, const SideFilter& filter = {});

/// A config that both sides have timed.
struct Pair {
    Recorded a;
    Recorded b;
    std::string across;  ///< what differs besides the times, in words; empty: nothing
    Judgement judgement;
};

/// A config that one side has timed, and the other has tried without a time: wrong, refused or failed.
struct StatusChange {
    Recorded a;
    Recorded b;
    std::string across;
};

/// A problem for which the sides name different configs.
struct ChoiceChange {
    std::string graph;
    Problem problem;
    std::string device;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    Config a;
    Config b;
    std::optional<double> regret_of_a;  ///< in b: time of a's config over that of b's, less 1; nothing: not timed there
    std::optional<double> regret_of_b;  ///< in a: likewise
};

struct Comparison {
    std::vector<Pair> pairs;  ///< in the order of a
    std::vector<StatusChange> changes;
    std::vector<Recorded> only_a;
    std::vector<Recorded> only_b;
    std::vector<ChoiceChange> choices;
    std::size_t chosen = 0;  ///< problems for which both sides name a config, alike or not
};

struct CompareOptions {
    /// Pairs what is left over of one config, graph, problem, policy and clock although environment, version of the
    /// variant or parts differ; the newest of each side. Without, such measurements are on one side only.
    bool across = false;
};

/// Pairs measurements of one graph (by fingerprint), environment, problem, policy, clock, config, version of its
/// variant and of its parts. Choices are those that the sides hold; for a problem where one of them holds none, the
/// fastest exact config that was timed to the end on each side. They are compared between equal environments only.
Comparison compare(const Side& a, const Side& b, const CompareOptions& options = {});

/// How the pairs of an op and variant came out. Empty words in the row over everything.
struct Tally {
    std::string op;
    std::string variant;
    std::int64_t same = 0;
    std::int64_t fast = 0;
    std::int64_t slow = 0;
    std::int64_t ambiguous = 0;
    std::int64_t only_a = 0;
    std::int64_t only_b = 0;
    double geomean = 0;  ///< of the ratios b over a, of configs that both sides timed to the end; 0: there are none
};
/// In order of op and variant, the row over everything last; empty if there is nothing at all.
std::vector<Tally> tally(const Comparison& comparison);

}  // namespace gnntune::tuner
