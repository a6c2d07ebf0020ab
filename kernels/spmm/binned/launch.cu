#include "kernels/spmm/binned/launch.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/common/tiles.hpp"
#include "kernels/spmm/binned/kernel.cuh"
#include "kernels/spmm/binned/sort_rows.hpp"

namespace gnntune::spmm_binned {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    BinnedParams params;
    std::int32_t k = 0;
    bool weighted = false;
    bool mean = false;
    SortedRows rows;
    kernels::RowPieces pieces;
    std::vector<Bin> bins;
    unsigned blocks = 0;  ///< pieces among them
};

namespace {

constexpr std::int64_t kShortRow = 8;

int log2_of(int power) {
    return std::countr_zero(static_cast<unsigned>(power));
}

/// Threads for a row of `edges`, as a power of two.
int team_shift(const BinnedParams& p, std::int64_t edges) {
    int shift = log2_of(p.lanes);
    for (std::int64_t holds = p.share; holds < edges && shift < log2_of(p.threads()); holds *= 2) ++shift;
    return shift;
}

template <int VEC, int ITEMS>
void launch_shape(const Plan& p, Arguments a, cudaStream_t stream) {
    const dim3 grid(p.blocks,
                    static_cast<unsigned>(kernels::ceil_div(p.k, kernels::tile_width(p.params.lanes, ITEMS, VEC))));
    auto* kernel = p.weighted ? &binned_kernel<VEC, ITEMS, true> : &binned_kernel<VEC, ITEMS, false>;
    const int teams_of_warps = p.bins.empty() || p.bins.front().shift > 5 || a.n_pieces > 0 ? 1 : 0;
    const auto shared = static_cast<std::size_t>(teams_of_warps * p.params.warps_per_block * p.params.lanes * ITEMS) *
                        sizeof(kernels::Vec<VEC>);
    kernel<<<grid, static_cast<unsigned>(p.params.threads()), shared, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC>
void launch_items(const Plan& p, const Arguments& a, cudaStream_t stream) {
    if (p.params.items == 2) {
        launch_shape<VEC, 2>(p, a, stream);
    } else {
        launch_shape<VEC, 1>(p, a, stream);
    }
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const BinnedParams& params, std::int32_t k,
                                      bool weighted, bool mean, StreamHandle stream) {
    auto p = std::make_shared<Plan>();
    p->params = params;
    p->k = k;
    p->weighted = weighted;
    p->mean = mean;
    // Key 0 has the rows that are cut; then a key for each class, so that the groups of a warp end together. Short rows
    // take a step or two each: they stay in their order, so that neighbours share what they gather.
    KeyOfClass keys{};
    std::vector<int> shifts{0};
    int longest = kDegreeClasses - 1;
    while (most_edges(longest) > params.piece_edges()) keys.key[longest--] = 0;
    for (int c = longest; c >= 0; --c) {
        const int shift = team_shift(params, most_edges(c));
        if (shifts.size() == 1 || shifts.back() != shift || most_edges(c + 1) > kShortRow) shifts.push_back(shift);
        keys.key[c] = static_cast<std::uint8_t>(shifts.size() - 1);
    }
    p->rows = sort_rows(*csr, keys, stream);
    const auto& above = p->rows.above;
    if (above[1] > 0) {
        p->pieces = kernels::build_row_pieces(*csr, stream, static_cast<std::int32_t>(most_edges(longest)),
                                              params.piece_edges());
    }
    p->blocks = static_cast<unsigned>(p->pieces.pieces.size());
    for (std::size_t key = 1; key < shifts.size();) {
        const std::size_t first = key;
        while (key < shifts.size() && shifts[key] == shifts[first]) ++key;
        const std::int32_t rows = above[key] - above[first];
        if (rows == 0) continue;
        p->bins.push_back({above[first], rows, p->blocks, shifts[first]});
        p->blocks += static_cast<unsigned>(kernels::ceil_div(rows, params.threads() >> shifts[first]));
    }
    p->csr = std::move(csr);
    return p;
}

std::size_t workspace_bytes(const Plan& p) {
    return static_cast<std::size_t>(p.pieces.slots) * static_cast<std::size_t>(p.k) * sizeof(float);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (p.blocks == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *p.csr;
    Arguments a{};
    a.row_ptr = g.row_ptr;
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.rows = p.rows.rows.data();
    a.pieces = p.pieces.pieces.data();
    a.edge_weight = o.edge_weight;
    a.x = o.x;
    a.y = o.y;
    a.partial = static_cast<float*>(workspace);
    a.m = g.m;
    a.k = p.k;
    a.lanes = p.params.lanes;
    a.n_bins = static_cast<int>(p.bins.size());
    a.n_pieces = static_cast<unsigned>(p.pieces.pieces.size());
    a.mean = p.mean;
    a.ids_aligned = kernels::aligned16(g.col_idx) && kernels::aligned16(g.edge_id);
    a.weights_aligned = kernels::aligned16(o.edge_weight);
    std::copy(p.bins.begin(), p.bins.end(), a.bins);
    // Params promise what k allows; the pointers of this run may allow less.
    switch (kernels::vector_width(p.k, {o.x, o.y}, p.params.vec)) {
        case 4:
            launch_items<4>(p, a, stream);
            break;
        case 2:
            launch_items<2>(p, a, stream);
            break;
        default:
            launch_items<1>(p, a, stream);
    }
    const auto split = static_cast<unsigned>(p.pieces.split.size());
    if (split == 0) return;
    const int wide = std::clamp(kernels::next_power_of_two(p.k), 8, 64);
    merge_kernel<<<split, dim3(static_cast<unsigned>(wide), static_cast<unsigned>(kMergeThreads / wide)), 0, stream>>>(
        p.pieces.split.data(), g.row_ptr, a.partial, o.y, p.k, p.mean);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_binned
