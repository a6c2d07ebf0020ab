// What a cost model is told of kernels that give every row a team of one size (CostTerms::threads and longest).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/host.hpp"
#include "kernels/common/row_pieces.hpp"

namespace gnntune::kernels {

/// A team of `team` threads in groups of `lanes`; a group has gathers of `run` edges in flight, and makes `walks` of them
/// for each edge, one after another.
struct TeamShape {
    int team;
    int lanes;
    int run;
    int walks = 1;
    static constexpr int kPieceThreads = 128;  ///< of the block that a piece of a long row gets
};

/// Adds to `terms` a pass in which each of the rows (or columns) in those classes gets `copies` teams, one for each head
/// and feature tile. Rows of more than kLongRow edges are cut into pieces, whose blocks are one team each.
inline void add_team_cost(const std::vector<DegreeClass>& classes, const TeamShape& shape, double copies,
                          CostTerms& terms) {
    double longest = 0;
    for (const DegreeClass& c : classes) {
        const double mean = static_cast<double>(c.edges) / static_cast<double>(c.rows);
        const bool cut = c.most > kLongRow;
        const double pieces = cut ? std::ceil(mean / kPieceEdges) : 1;
        const int threads = cut ? TeamShape::kPieceThreads : shape.team;
        const double at_once = static_cast<double>(threads / shape.lanes) * shape.run;
        terms.threads += static_cast<double>(c.rows) * pieces * threads * copies;
        longest = std::max(longest, std::ceil(mean / pieces / at_once) * shape.walks);
    }
    terms.longest += longest;
}

}  // namespace gnntune::kernels
