// The problems that the conformance suite asks of every variant of an op: widths, heads, storage types and reductions that
// bring out every path of a kernel. core/ops/<op>/suite.cpp names those of one op; the suite alone is built with them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/registry/op.hpp"

namespace gnntune {

/// How much is asked for.
struct SuiteScope {
    bool short_run = false;            ///< a few problems of each kind: on large graphs, and where time is short
    bool once = false;                 ///< one of each kind, forward only
    bool large = false;                ///< the graph has long rows
    std::vector<std::int32_t> widths;  ///< that suit the graph
};

/// Collects problems of one op.
class SuiteProblems {
public:
    SuiteProblems(Op op, SuiteScope how_much) : scope(std::move(how_much)), op_(op) {}

    /// In both directions; `change` sets what is not plain.
    template <typename Change>
    void add(std::int32_t k, std::int32_t heads, bool weighted, const Change& change) {
        for (const Direction direction : {Direction::forward, Direction::reversed}) {
            if (scope.once && direction == Direction::reversed) break;
            Problem p;
            p.op = op_;
            p.k = k;
            p.heads = heads;
            p.weighted = weighted;
            p.direction = direction;
            change(p);
            problems_.push_back(p);
        }
    }
    void add(std::int32_t k, std::int32_t heads = 1, bool weighted = false) {
        add(k, heads, weighted, [](Problem&) {});
    }
    std::vector<Problem> take() { return std::move(problems_); }

    const SuiteScope scope;

private:
    Op op_;
    std::vector<Problem> problems_;
};

/// Of ops that sum, average or take maxima of features.
void add_sums(SuiteProblems& out);
/// Of ops whose heads have features, and scores or products of their own.
void add_attention(SuiteProblems& out);

/// Defined in core/ops/<op>/suite.cpp.
#define GNNTUNE_OP(name) void suite_of_##name(SuiteProblems& out);
GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP

}  // namespace gnntune
