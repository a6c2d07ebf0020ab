#include "kernels/spmm/dense/launch.hpp"

#include "core/gpu/device_buffer.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/spmm/dense/kernel.cuh"

namespace gnntune::spmm_dense {

struct Plan {
    PlanParts parts;
    std::int32_t k = 0;
    bool mean = false;
    bool self_loop = false;
    // TF32 of a graph without weights drops bits of x only (2^-10 of a product at most, which the tolerance has room
    // for) where the array is exact. Otherwise all operands are rounded to nearest first, here and in `x`.
    bool rounds = false;
    DeviceBuffer<float> rounded;  // of parts.dense, where that is not exact

    std::int32_t n_rows() const { return parts.csr->n_rows; }
    std::int32_t n_cols() const { return parts.csr->n_cols; }
    std::int64_t stride() const { return kernels::dense_stride(n_cols()); }
    std::int64_t x_size() const { return std::int64_t{n_cols()} * k; }
};

namespace {

// Largest count of which TF32 has every smaller one too: 11 significant bits.
constexpr std::int32_t kLargestExactCount = 2048;

unsigned blocks_for(std::int64_t n) {
    return static_cast<unsigned>(kernels::ceil_div(n, kThreads));
}

void enqueue_rounding(const float* in, std::int64_t n, float* out, cudaStream_t stream) {
    round_values<<<blocks_for(n), kThreads, 0, stream>>>(in, n, out);
    GNNTUNE_CUDA(cudaGetLastError());
}

// Parts of the workspace, in bytes from its start; each ends where the next begins.
struct Layout {
    std::size_t cublas = 0;  // bytes of cuBLAS's part, which comes first
    std::size_t array = 0;
    std::size_t x = 0;
    std::size_t total = 0;
};

Layout layout_of(const Plan& p) {
    Layout l;
    l.cublas = kernels::cublas_workspace_bytes(std::int64_t{p.n_rows()} * p.k, p.parts.compute_capability);
    l.array = l.cublas;
    l.x = l.array + (p.parts.cells ? kernels::align_workspace(p.parts.cells->array_bytes()) : 0);
    const std::size_t x_bytes = static_cast<std::size_t>(p.x_size()) * sizeof(float);
    l.total = l.x + (p.rounds ? kernels::align_workspace(x_bytes) : 0);
    return l;
}

void fill_array(const Plan& p, const float* weight, float* values, cudaStream_t stream) {
    const formats::DenseCellsFormat& g = *p.parts.cells;
    GNNTUNE_CUDA(cudaMemsetAsync(values, 0, g.array_bytes(), stream));
    const unsigned blocks = blocks_for(g.m);
    if (p.rounds) {
        scatter_weights<true><<<blocks, kThreads, 0, stream>>>(weight, g.cell, g.edge_id, g.m, values);
    } else {
        scatter_weights<false><<<blocks, kThreads, 0, stream>>>(weight, g.cell, g.edge_id, g.m, values);
    }
    GNNTUNE_CUDA(cudaGetLastError());
}

void finish(const Plan& p, const Operands& o, cudaStream_t stream) {
    Finish f;
    f.row_ptr = p.parts.csr->row_ptr;
    f.col_idx = p.parts.csr->col_idx;
    f.edge_id = p.parts.csr->edge_id;
    f.weight = p.parts.cells ? o.edge_weight : nullptr;
    f.self_weight = p.self_loop ? o.self_weight : nullptr;
    f.x = o.x;
    f.y = o.y;
    f.n_rows = p.n_rows();
    f.k = p.k;
    f.mean = p.mean;
    const int vec = kernels::vector_width(p.k, {o.x, o.y}) == 4 ? 4 : 1;
    const auto vectors = static_cast<std::int32_t>(kernels::ceil_div(p.k, vec));
    const int lanes = std::min(32, kernels::next_power_of_two(vectors));
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(f.n_rows, kThreads / lanes));
    if (vec == 4) {
        finish_rows<4><<<blocks, kThreads, 0, stream>>>(f, lanes);
    } else {
        finish_rows<1><<<blocks, kThreads, 0, stream>>>(f, lanes);
    }
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

std::shared_ptr<const Plan> make_plan(PlanParts parts, const Problem& problem, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::open_cublas();
    auto plan = std::make_shared<Plan>();
    plan->parts = std::move(parts);
    plan->k = problem.k;
    plan->mean = problem.reduce == Reduce::mean;
    plan->self_loop = problem.self_loop;
    const auto& dense = plan->parts.dense;
    const bool exact_array = dense && dense->max_multiplicity <= kLargestExactCount;
    plan->rounds = plan->parts.precision == Precision::tf32 && !exact_array;
    if (plan->rounds && dense) {
        const std::int64_t cells = dense->n_rows * dense->stride;
        plan->rounded = DeviceBuffer<float>(static_cast<std::size_t>(cells));
        enqueue_rounding(dense->values, cells, plan->rounded.data(), stream);
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    return layout_of(p).total;
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto* space = static_cast<unsigned char*>(workspace);
    const Layout l = layout_of(p);
    const float* array = nullptr;
    if (p.parts.cells) {
        auto* filled = reinterpret_cast<float*>(space + l.array);
        fill_array(p, o.edge_weight, filled, stream);
        array = filled;
    } else {
        array = p.rounded.size() > 0 ? p.rounded.data() : p.parts.dense->values;
    }
    const float* x = o.x;
    if (p.rounds) {
        auto* rounded = reinterpret_cast<float*>(space + l.x);
        enqueue_rounding(o.x, p.x_size(), rounded, stream);
        x = rounded;
    }
    kernels::DenseProduct product;
    product.rows = p.n_rows();
    product.cols = p.k;
    product.inner = p.n_cols();
    product.a = array;
    product.a_stride = static_cast<std::int32_t>(p.stride());
    product.b = x;
    product.b_stride = p.k;
    product.c = o.y;
    product.c_stride = p.k;
    product.precision = p.parts.precision;
    kernels::enqueue_product(product, space, l.cublas, stream_handle);
    finish(p, o, stream);
}

}  // namespace gnntune::spmm_dense
