#include "kernels/common/binned_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gnntune::kernels {

int BinShape::team_shift(std::int64_t edges) const {
    const int most = std::countr_zero(static_cast<unsigned>(threads));
    int shift = std::countr_zero(static_cast<unsigned>(lanes));
    for (std::int64_t holds = share; holds < edges && shift < most; holds *= 2) ++shift;
    return shift;
}

void BinShape::add_cost(const std::vector<DegreeClass>& classes, int run, double tiles, CostTerms& terms) const {
    double padded = 0;
    double edges = 0;
    bool merges = false;
    for (const DegreeClass& c : classes) {
        const int shift = team_shift(c.most);
        const std::int64_t groups = (std::int64_t{1} << shift) / lanes;
        const bool cut = c.most > piece_edges();
        const double mean = static_cast<double>(c.edges) / static_cast<double>(c.rows);
        const double pieces = cut ? std::ceil(mean / piece_edges()) : 1;
        const double rounds = std::ceil(mean / pieces / static_cast<double>(groups * run));
        const double teams = static_cast<double>(c.rows) * pieces;
        terms.threads += teams * static_cast<double>(std::int64_t{1} << shift) * tiles;
        terms.longest = std::max(terms.longest, rounds);
        merges = merges || cut;
        padded += teams * rounds * static_cast<double>(groups * run);
        edges += static_cast<double>(c.edges);
    }
    if (merges) terms.launches += 1;
    if (edges > 0) terms.flops *= std::max(1.0, padded / edges);
}

}  // namespace gnntune::kernels
