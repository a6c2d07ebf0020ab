#include "kernels/common/binned_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/registry/graph.hpp"

namespace gnntune::kernels {

int BinShape::team_shift(std::int64_t edges) const {
    const int most = std::countr_zero(static_cast<unsigned>(threads));
    int shift = std::countr_zero(static_cast<unsigned>(lanes));
    for (std::int64_t holds = share; holds < edges && shift < most; holds *= 2) ++shift;
    return shift;
}

std::int64_t BinShape::most_blocks(std::int64_t rows, std::int64_t edges) const {
    return ceil_div(rows * lanes + 2 * lanes * edges / share, threads) + kMaxBins + 2 * edges / piece_edges();
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

// What is cut comes first and has no bin. The groups of a warp are of one class, and so end together.
BinnedRows bin_rows(std::shared_ptr<const RowsByDegree> order, const BinShape& shape) {
    BinnedRows out;
    out.pieces = order->pieces(shape.piece_edges());
    out.blocks = static_cast<unsigned>(out.pieces->pieces.size());
    int c = std::countr_zero(static_cast<unsigned>(shape.piece_edges()));
    while (c >= kShortClass) {
        const int shift = shape.team_shift(std::int64_t{1} << c);
        const std::int32_t first = order->first_place(c);
        std::int32_t last = first;
        for (; c >= kShortClass && shape.team_shift(std::int64_t{1} << c) == shift; --c) {
            last = order->last_place(c);
        }
        if (last == first) continue;
        out.bins.push_back({first, last - first, out.blocks, shift});
        out.blocks += static_cast<unsigned>(ceil_div(last - first, shape.threads >> shift));
    }
    out.order = std::move(order);
    return out;
}

namespace {

BinnedRows bin(const PrepareContext& c, const char* format, const BinShape& shape) {
    return bin_rows(c.graph.format_as<RowsByDegree>(format, c.query.problem.direction, c.stream), shape);
}

}  // namespace

BinnedRows bin_rows(const PrepareContext& c, const BinShape& shape) {
    return bin(c, kFormatRowsByDegree, shape);
}

BinnedRows bin_columns(const PrepareContext& c, const BinShape& shape) {
    return bin(c, kFormatColumnsByDegree, shape);
}

std::vector<std::string_view> needs_rows_by_degree(const Params&) {
    return {kFormatCsr, kFormatRowsByDegree};
}

std::vector<std::string_view> needs_columns_by_degree(const Params&) {
    return {kFormatCsr, kFormatCsc, kFormatColumnsByDegree};
}

std::vector<std::string_view> needs_both_by_degree(const Params&) {
    return {kFormatCsr, kFormatCsc, kFormatRowsByDegree, kFormatColumnsByDegree};
}

BinnedRowsView view_of(const BinnedRows& rows, const CsrFormat& csr) {
    BinnedRowsView view{};
    view.row_ptr = csr.row_ptr;
    view.order = rows.order->order();
    view.pieces = rows.pieces->pieces.data();
    view.n_pieces = static_cast<unsigned>(rows.pieces->pieces.size());
    view.n_bins = static_cast<int>(rows.bins.size());
    std::copy(rows.bins.begin(), rows.bins.end(), view.bins);
    return view;
}

}  // namespace gnntune::kernels
