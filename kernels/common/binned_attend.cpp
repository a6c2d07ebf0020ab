#include "kernels/common/binned_attend.hpp"

#include <string>

#include "core/registry/graph.hpp"
#include "kernels/common/head_vectors.hpp"

namespace gnntune::kernels {
namespace {

/// Tiles of features and heads; each is a row of the grid.
std::int64_t tiles(const Problem& p, const BinnedAttendParams& params, int vec) {
    return params.feature_tiles(p.k, vec) * ceil_div(p.heads, params.heads_at_once(p.heads));
}

constexpr int kMostLanes = 32;
/// What a kernel gets of shared memory unasked.
constexpr std::size_t kSharedBytes = 48 * 1024;

std::size_t shared_bytes(const Problem& p, const BinnedAttendParams& params) {
    const int group = params.shape(p.heads).lanes;
    return static_cast<std::size_t>(params.warps_per_block) * static_cast<std::size_t>(group) *
           static_cast<std::size_t>(2 + widest_vector(p) * params.items) * sizeof(float);
}

}  // namespace

const std::vector<ParamField<BinnedAttendParams>>& BinnedAttendParams::fields() {
    static const auto kFields = fields_of<BinnedAttendParams>();
    return kFields;
}

Verdict BinnedAttendParams::legal(const Query& q, const BinnedAttendParams& p) {
    const Problem& problem = q.problem;
    const std::int32_t vectors = head_vectors(problem);
    const std::int32_t most = std::min(vectors, kMostLanes * kMostAttendItems);
    if (p.lanes * p.items != most) {
        return Verdict::no("a head of k=" + std::to_string(problem.k) +
                           " is held by lanes * items = " + std::to_string(most));
    }
    if (p.run * p.items > kAttendInFlight) {
        return Verdict::no("run * items is " + std::to_string(kAttendInFlight) + " at most: registers");
    }
    if (p.run < kAttendInFlight / 2 && p.items < kMostAttendItems) return Verdict::no("run=2 is for items=4");
    if (shared_bytes(problem, p) > kSharedBytes) {
        return Verdict::no("the sums of " + std::to_string(p.warps_per_block) + " warps need more shared memory than " +
                           std::to_string(kSharedBytes) + " bytes");
    }
    // The pointers of a run may allow single loads only.
    if (tiles(problem, p, 1) > kMaxFeatureTiles) {
        return Verdict::no("heads * k = " + std::to_string(std::int64_t{problem.k} * problem.heads) +
                           " needs too many tiles");
    }
    // The merge has a block for each head of a row that is cut.
    const BinShape shape = p.shape(problem.heads);
    return require_grid(std::max(shape.most_blocks(q.n_rows, q.m), shape.most_cut(q.m) * problem.heads));
}

// As many vectors for a lane as there are, since shuffles are what it costs; fewer where two arrays are gathered, whose
// registers cost warps. The rest is the best of a coarse grid on agnn, every fifth graph of the corpus.
BinnedAttendParams BinnedAttendParams::defaults(const Query& q) {
    BinnedAttendParams p;
    const std::int32_t vectors = std::min(head_vectors(q.problem), kMostLanes * kMostAttendItems);
    const bool two_arrays = q.problem.op == Op::attention && vectors >= 8;
    p.items = std::min(vectors, two_arrays ? std::max(2, vectors / kMostLanes) : kMostAttendItems);
    p.lanes = vectors / p.items;
    p.run = std::min(4, kAttendInFlight / p.items);
    const std::int64_t width = std::int64_t{q.problem.k} * q.problem.heads;
    const bool much = static_cast<double>(q.m) * static_cast<double>(width) > 2e7;
    p.share = much ? 32 : 8;
    p.warps_per_block = much || width <= 16 ? 4 : 16;
    if (shared_bytes(q.problem, p) > kSharedBytes) p.warps_per_block = 4;
    return p;
}

Verdict require_binned_attend(const Query& q) {
    return BinnedAttendParams::legal(q, BinnedAttendParams::defaults(q));
}

BinnedAttendPlan plan_binned_attend(const PrepareContext& c, const BinnedAttendParams& params) {
    const Problem& p = c.query.problem;
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    BinnedRows rows = bin_rows(c, params.shape(p.heads));
    return {std::move(csr), std::move(rows), params, p.k, p.heads, p.dtype};
}

double binned_attend_index_bytes(const Query& q, const BinnedAttendParams& p) {
    const double order_bytes = 4.0 * static_cast<double>(q.n_rows);
    return (csr_bytes(q) + order_bytes) * static_cast<double>(tiles(q.problem, p, widest_vector(q.problem)));
}

void add_binned_attend_cost(const Query& q, const BinnedAttendParams& p, CostTerms& terms) {
    const int vec = widest_vector(q.problem);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    const auto again = static_cast<double>(p.feature_tiles(q.problem.k, vec) - 1);
    terms.l2_bytes += static_cast<double>(q.m) * row_bytes * again;
    terms.flops += 2.0 * static_cast<double>(q.m) * q.problem.k * q.problem.heads * again;
    p.shape(q.problem.heads).add_cost(row_classes(q), p.run, static_cast<double>(tiles(q.problem, p, vec)), terms);
}

}  // namespace gnntune::kernels
