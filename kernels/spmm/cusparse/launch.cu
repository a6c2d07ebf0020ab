// Descriptors are made for each run: they are small host objects, and a plan may run on many streams at once.
// A preprocessed plan is the exception: cuSPARSE ties the preprocessed buffer to the matrix descriptor, so the plan
// keeps both and its runs take turns on the host.
#include "kernels/spmm/cusparse/launch.hpp"

#include <mutex>

#include "core/common/float16.hpp"
#include "core/gpu/device_buffer.hpp"
#include "kernels/common/cusparse.hpp"
#include "kernels/common/permute.cuh"
#include "kernels/common/storage.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::spmm_cusparse {

struct State {
    Matrix graph;
    CusparseParams params;
    std::int32_t k = 0;
    bool weighted = false;
    DType dtype = DType::f32;
    DeviceBuffer<unsigned char> ones;  // values of an unweighted graph without self loops, of dtype
    std::size_t buffer_bytes = 0;
    // Preprocessed plans only.
    kernels::SpMat matrix;
    DeviceBuffer<unsigned char> buffer;
    mutable std::mutex turn;

    std::size_t value_bytes() const { return static_cast<std::size_t>(graph.m()) * size_of(dtype); }
};

using kernels::align_workspace;
using kernels::kOne;
using kernels::kPlain;
using kernels::kZero;

namespace {

// Whether the values of a run have to be brought into the matrix's order.
bool permutes(const State& p) {
    return p.graph.self_loop || (p.weighted && p.graph.edge_id());
}

kernels::SpMat describe(const State& p, const void* values) {
    cusparseSpMatDescr_t d = nullptr;
    auto* v = const_cast<void*>(values);
    const cudaDataType type = kernels::cusparse_type(p.dtype);
    if (p.graph.csr) {
        GNNTUNE_CUSPARSE(cusparseCreateCsr(&d, p.graph.csr->n_rows, p.graph.csr->n_cols, p.graph.csr->m,
                                           const_cast<std::int32_t*>(p.graph.csr->row_ptr),
                                           const_cast<std::int32_t*>(p.graph.csr->col_idx), v, CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    } else {
        GNNTUNE_CUSPARSE(cusparseCreateCoo(&d, p.graph.coo->n_rows, p.graph.coo->n_cols, p.graph.coo->m,
                                           const_cast<std::int32_t*>(p.graph.coo->row_idx),
                                           const_cast<std::int32_t*>(p.graph.coo->col_idx), v, CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_BASE_ZERO, type));
    }
    return kernels::SpMat(d);
}

// One of the plan's storage type, written once for each edge.
template <typename T>
void fill_with_ones(const State& p, unsigned char* out, cudaStream_t stream) {
    kernels::fill_values<<<kernels::permute_blocks(p.graph.m()), kernels::kPermuteThreads, 0, stream>>>(
        reinterpret_cast<T*>(out), p.graph.m(), from_float<T>(1.0F));
    GNNTUNE_CUDA(cudaGetLastError());
}

// out[e] = the weight of edge e of the matrix: of an edge of the graph, 1 where there are none, or of a self loop.
template <typename T>
__global__ void gather_with_loops(const T* __restrict__ edge_weight, const T* __restrict__ self_weight,
                                  const std::int32_t* __restrict__ source, std::int64_t m, T one, T* __restrict__ out) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kernels::kPermuteThreads) + threadIdx.x;
    if (e >= m) return;
    const std::int32_t from = source[e];
    out[e] = from < 0 ? self_weight[-1 - from] : edge_weight ? edge_weight[from] : one;
}

template <typename T>
void gather_weights(const State& p, const Operands& o, unsigned char* out, cudaStream_t stream) {
    const std::int64_t m = p.graph.m();
    const T* weights = p.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    if (p.graph.self_loop) {
        gather_with_loops<<<kernels::permute_blocks(m), kernels::kPermuteThreads, 0, stream>>>(
            weights, elements_of<T>(o.self_weight), p.graph.edge_id(), m, from_float<T>(1.0F),
            reinterpret_cast<T*>(out));
    } else {
        kernels::gather_values<<<kernels::permute_blocks(m), kernels::kPermuteThreads, 0, stream>>>(
            weights, p.graph.edge_id(), m, reinterpret_cast<T*>(out));
    }
    GNNTUNE_CUDA(cudaGetLastError());
}

cusparseSpMMAlg_t algorithm(const State& p) {
    return static_cast<cusparseSpMMAlg_t>(p.params.alg);
}

}  // namespace

std::shared_ptr<const State> make_state(Matrix graph, const CusparseParams& params, std::int32_t k, bool weighted,
                                        DType dtype, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto state = std::make_shared<State>();
    if (graph.csr) kernels::require_aligned_ids({graph.csr->row_ptr, graph.csr->col_idx});
    if (graph.coo) kernels::require_aligned_ids({graph.coo->row_idx, graph.coo->col_idx});
    state->graph = std::move(graph);
    state->params = params;
    state->k = k;
    state->weighted = weighted;
    state->dtype = dtype;
    const bool has_values = weighted || state->graph.self_loop;  // that come with a run
    if (!has_values) {
        state->ones = DeviceBuffer<unsigned char>(state->value_bytes());
        kernels::with_storage(
            dtype, [&]<typename T>(std::type_identity<T>) { fill_with_ones<T>(*state, state->ones.data(), stream); });
    }
    // The sizes alone decide the buffer; any non-null addresses do for the operands that are not here yet.
    DeviceBuffer<float> nowhere(1);
    const void* values = has_values ? static_cast<const void*>(nowhere.data()) : state->ones.data();
    kernels::SpMat matrix = describe(*state, values);
    const kernels::DnMat x = kernels::row_major(state->graph.n_cols(), k, nowhere.data(), dtype);
    const kernels::DnMat y = kernels::row_major(state->graph.n_rows(), k, nowhere.data(), dtype);
    const kernels::CusparseLease handle(stream);
    GNNTUNE_CUSPARSE(cusparseSpMM_bufferSize(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero,
                                             y.get(), CUDA_R_32F, algorithm(*state), &state->buffer_bytes));
    if (params.preprocess != 0) {
        state->buffer = DeviceBuffer<unsigned char>(std::max<std::size_t>(state->buffer_bytes, 16));
        GNNTUNE_CUSPARSE(cusparseSpMM_preprocess(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero,
                                                 y.get(), CUDA_R_32F, algorithm(*state), state->buffer.data()));
        state->matrix = std::move(matrix);
    }
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    return state;
}

std::size_t workspace_bytes(const State& p) {
    const std::size_t weights = permutes(p) ? align_workspace(p.value_bytes()) : 0;
    return weights + (p.params.preprocess != 0 ? 0 : align_workspace(p.buffer_bytes));
}

void launch(const State& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto* free_space = static_cast<unsigned char*>(workspace);
    const void* values = p.weighted ? static_cast<const void*>(o.edge_weight) : p.ones.data();
    if (permutes(p)) {
        values = free_space;
        kernels::with_storage(p.dtype,
                              [&]<typename T>(std::type_identity<T>) { gather_weights<T>(p, o, free_space, stream); });
        free_space += align_workspace(p.value_bytes());
    }
    const kernels::DnMat x = kernels::row_major(p.graph.n_cols(), p.k, o.x, p.dtype);
    const kernels::DnMat y = kernels::row_major(p.graph.n_rows(), p.k, o.y, p.dtype);
    const kernels::CusparseLease handle(stream);
    if (p.params.preprocess != 0) {
        const std::lock_guard lock(p.turn);
        GNNTUNE_CUSPARSE(cusparseSpMatSetValues(p.matrix.get(), const_cast<void*>(values)));
        GNNTUNE_CUSPARSE(cusparseSpMM(handle.get(), kPlain, kPlain, &kOne, p.matrix.get(), x.get(), &kZero, y.get(),
                                      CUDA_R_32F, algorithm(p), const_cast<unsigned char*>(p.buffer.data())));
        return;
    }
    const kernels::SpMat matrix = describe(p, values);
    GNNTUNE_CUSPARSE(cusparseSpMM(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero, y.get(),
                                  CUDA_R_32F, algorithm(p), free_space));
}

}  // namespace gnntune::spmm_cusparse
