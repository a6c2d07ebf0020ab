// Mistakes that only a GPU variant can make: a launch that synchronises, that allocates, or that leaves its stream, and a
// lost update that only shows when many threads run. And an edge that is lost where two pieces of a hub meet.
#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "tests/conformance/faulty/faulty.hpp"

namespace gnntune::conformance {
namespace {

enum class Fault { none, synchronises, allocates, legacy_stream, lost_update, edge_lost_at_a_join };

struct State {
    std::shared_ptr<const CooFormat> coo;
    std::int32_t k;
    bool weighted;
};

/// Edges of a piece: a row of 200,000 has one join.
constexpr std::int64_t kPiece = 1 << 17;

template <Fault F>
__global__ void scatter(const std::int32_t* row, const std::int32_t* col, const std::int32_t* id, const float* weight,
                        const float* x, float* y, std::int64_t m, std::int32_t k) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (e >= m) return;
    if (F == Fault::edge_lost_at_a_join && e > 0 && e % kPiece == 0 && row[e] == row[e - 1]) return;
    const float w = weight ? weight[id ? id[e] : e] : 1.0F;
    for (std::int32_t f = 0; f < k; ++f) {
        float* target = y + static_cast<std::int64_t>(row[e]) * k + f;
        const float term = w * x[static_cast<std::int64_t>(col[e]) * k + f];
        if (F == Fault::lost_update) {
            *target += term;
        } else {
            atomicAdd(target, term);
        }
    }
}

template <Fault F>
void run(const void* state, const Operands& o, void*, StreamHandle handle) {
    const auto& s = *static_cast<const State*>(state);
    const CooFormat& g = *s.coo;
    auto* stream = F == Fault::legacy_stream ? nullptr : static_cast<cudaStream_t>(handle);
    const std::size_t bytes = static_cast<std::size_t>(g.n_rows) * static_cast<std::size_t>(s.k) * 4;
    if (F == Fault::allocates) {
        void* p = nullptr;
        GNNTUNE_CUDA(cudaMalloc(&p, 1024));
        GNNTUNE_CUDA(cudaFree(p));
    }
    if (bytes > 0) GNNTUNE_CUDA(cudaMemsetAsync(o.y, 0, bytes, stream));
    if (g.m > 0) {
        scatter<F><<<static_cast<unsigned>((g.m + 127) / 128), 128, 0, stream>>>(
            g.row_idx, g.col_idx, g.edge_id, s.weighted ? o.edge_weight : nullptr, o.x, o.y, g.m, s.k);
        GNNTUNE_CUDA(cudaGetLastError());
    }
    if (F == Fault::synchronises) GNNTUNE_CUDA(cudaStreamSynchronize(stream));
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return std::make_shared<State>(State{c.graph.format_as<CooFormat>(kFormatCoo, c.query.problem.direction, c.stream),
                                         c.query.problem.k, c.query.problem.weighted});
}

CostTerms no_terms(const Query&, const Params&) {
    return {};
}

template <Fault F>
FaultyVariant make(const char* id, const char* caught_by) {
    Variant v;
    v.id = id;
    v.summary = "wrong on purpose";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    kernels::set_no_params(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &run<F>;
    v.cost_terms = &no_terms;
    // Whose list of edges has rows in one piece.
    if (F == Fault::edge_lost_at_a_join) v.can.direction = {Direction::forward};
    return {v, caught_by, F == Fault::edge_lost_at_a_join};
}

}  // namespace

std::vector<FaultyVariant> faulty_variants_on_cuda() {
    return {make<Fault::none>("cuda_right", ""),
            make<Fault::synchronises>("cuda_synchronises", "capture"),
            make<Fault::allocates>("cuda_allocates", "capture"),
            make<Fault::legacy_stream>("cuda_legacy_stream", "capture"),
            make<Fault::lost_update>("cuda_lost_update", "oracle"),
            make<Fault::edge_lost_at_a_join>("cuda_edge_lost_at_a_join", "integers")};
}

}  // namespace gnntune::conformance
