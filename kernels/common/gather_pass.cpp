#include "kernels/common/gather_pass.hpp"

#include "kernels/common/attention.hpp"

namespace gnntune::kernels {
namespace {

/// Sums of the pass without dot products: one for each of its gathered rows.
int other_sums(const Problem& p) {
    return 3 - GatherPassParams::gathered(p);
}

Verdict require_items(const Problem& p, const GatherShape& s) {
    const int most = whole_vectors(p) ? 4 : 2;
    const int vectors = head_vectors(p);
    if (vectors > 32 * most) {
        return Verdict::no("a warp holds " + std::to_string(32 * most * widest_vector(p)) +
                           " features, k=" + std::to_string(p.k) + " was asked for");
    }
    if (s.items > most) return Verdict::no("four vectors of a lane are for loads of 16 bytes");
    if (s.head_lanes(p) > 32) return Verdict::no("k=" + std::to_string(p.k) + " needs more items");
    if (s.items > vectors) return Verdict::no("fewer items hold k=" + std::to_string(p.k));
    return Verdict::yes();
}

}  // namespace

Verdict require_gather_shape(const Problem& p, const GatherShape& s, int gathered) {
    const Verdict items = require_items(p, s);
    if (!items) return items;
    const bool narrow = p.dtype != DType::f32;
    if (s.items == 4 && narrow && head_vectors(p) <= 64) {
        return Verdict::no("items=4 of 16 bits is for wide heads only: registers");
    }
    if (gathered == 2 && s.items == 2 && head_vectors(p) == 2) return Verdict::no("two lanes hold k as two vectors");
    if (s.run * s.items == 4) return Verdict::yes();
    if (s.run * s.items != 8) return Verdict::no("run * items is 4 or 8");
    if (!whole_vectors(p)) return Verdict::no("run * items is 8 where vectors have 16 bytes only");
    if (gathered == 2 ? s.items > 1 || narrow : s.items == 4 && narrow) {
        return Verdict::no("so long a run takes too many registers");
    }
    if (s.head_lanes(p) < std::max(2, s.run / 2)) return Verdict::no("few lanes take shorter runs");
    return Verdict::yes();
}

// Nothing is shared between the lanes of a head but the weights: a lane for every vector, as long as there are few, and
// longer runs where one row is gathered.
GatherPassParams GatherPassParams::other(const Problem& p) const {
    GatherPassParams out = *this;
    const int vectors = head_vectors(p);
    out.items = 1;
    if (whole_vectors(p) && vectors >= 16) out.items = 2;
    while (out.head_lanes(p) > 32) out.items *= 2;
    // The kernel has these for passes without dot products, in 16 bits too.
    const bool longer = other_sums(p) == 1 && whole_vectors(p) && out.head_lanes(p) >= std::max(2, 4 / out.items);
    out.run = (longer ? 8 : 4) / out.items;
    if (out.shared_bytes(p, other_sums(p)) > kUnaskedSharedBytes) out.warps_per_block = 4;
    return out;
}

Verdict GatherPassParams::legal(const Query& q, const GatherPassParams& p) {
    const Problem& problem = q.problem;
    const Verdict shape = require_gather_shape(problem, p, gathered(problem));
    if (!shape) return shape;
    if (p.shared_bytes(problem, gathered(problem)) > kUnaskedSharedBytes) {
        return Verdict::no("so wide a group has blocks of 4 warps only");
    }
    const GatherPassParams second = p.other(problem);
    if (std::max(p.tiles(problem), second.tiles(problem)) > kMaxFeatureTiles) {
        return Verdict::no("heads=" + std::to_string(problem.heads) + " needs too many tiles");
    }
    const std::int64_t rows = std::max(q.n_rows, q.n_cols);
    return require_grid(std::max(p.bins(problem).most_blocks(rows, q.m), second.bins(problem).most_blocks(rows, q.m)));
}

// Predicted: lanes with several vectors shuffle less, as in the forward passes; what stays in registers is twice as much
// where a head's two rows have a sum each, and of 16-bit features, which are widened for good.
GatherPassParams GatherPassParams::defaults(const Query& q) {
    const Problem& problem = q.problem;
    const bool two_sums = gathered(problem) == 2;
    const int vectors = head_vectors(problem);
    const int most = !whole_vectors(problem) ? 1 : problem.dtype == DType::f32 && !two_sums ? 4 : 2;
    GatherPassParams p;
    p.items = two_sums && vectors == 2 ? 1 : std::min(vectors, most);
    while (p.head_lanes(problem) > 32) p.items *= 2;
    p.run = 4 / p.items;
    if (!two_sums && q.m >= 6 * q.n_rows) {
        p.run = 8 / p.items;
        if (!require_gather_shape(problem, p, gathered(problem))) p.run = 4 / p.items;
    }
    const double work = static_cast<double>(q.m) * problem.k * problem.heads;
    p.share = work > 8e6 ? 32 : 8;
    p.warps_per_block = 16;
    if (work > 2e6 || p.shared_bytes(problem, gathered(problem)) > kUnaskedSharedBytes) p.warps_per_block = 4;
    return p;
}

Verdict require_gather_pass(const Query& q) {
    return GatherPassParams::legal(q, GatherPassParams::defaults(q));
}

void add_gather_pass_cost(const Query& q, const GatherPassParams& p, const std::vector<DegreeClass>& first,
                          const std::vector<DegreeClass>& second, CostTerms& terms) {
    const Problem& problem = q.problem;
    const GatherPassParams other = p.other(problem);
    CostTerms more;
    p.bins(problem).add_cost(first, p.run, static_cast<double>(p.tiles(problem)), terms);
    other.bins(problem).add_cost(second, other.run, static_cast<double>(other.tiles(problem)), more);
    terms.threads += more.threads;
    terms.longest += more.longest;  // one pass after the other
    terms.launches += more.launches - CostTerms{}.launches;
}

}  // namespace gnntune::kernels
