#include "kernels/spmm/binned/launch.hpp"

#include <bit>

#include "core/common/float16.hpp"
#include "kernels/common/host.hpp"
#include "kernels/spmm/binned/plan.hpp"

namespace gnntune::spmm_binned {
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

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const BinnedParams& params, std::int32_t k,
                                      bool weighted, bool mean, DType dtype, StreamHandle stream) {
    auto p = std::make_shared<Plan>();
    p->params = params;
    p->k = k;
    p->dtype = dtype;
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
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    switch (p.dtype) {
        case DType::f32:
            return launch_typed<float>(p, o, workspace, stream);
        case DType::f16:
            return launch_typed<Float16>(p, o, workspace, stream);
        case DType::bf16:
            return launch_typed<BFloat16>(p, o, workspace, stream);
    }
}

}  // namespace gnntune::spmm_binned
