// Values are a row-major (padded rows) x (ell columns) array: row i of block row r holds the i-th rows of its blocks
// one after the other. Sizes that are no multiple of the block are padded: x and y then go through the workspace.
#include "kernels/spmm/cusparse_bell/launch.hpp"

#include <algorithm>
#include <vector>

#include "core/gpu/device_buffer.hpp"
#include "kernels/common/cusparse.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::spmm_cusparse_bell {

struct Plan {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int32_t k = 0;
    std::int64_t m = 0;
    std::int64_t padded_rows = 0;
    std::int64_t padded_cols = 0;
    std::int64_t ell_cols = 0;
    int block = 0;
    bool weighted = false;
    DeviceBuffer<std::int32_t> block_cols;  // [padded_rows / block, ell_cols / block], -1 where a row has fewer
    DeviceBuffer<std::int64_t> slot;        // [m] place of each edge in the values
    DeviceBuffer<std::int32_t> edge_id;     // [m] where the order is not the caller's
    DeviceBuffer<float> values;             // unweighted graphs only
    std::size_t buffer_bytes = 0;

    std::size_t value_bytes() const { return static_cast<std::size_t>(padded_rows * ell_cols) * sizeof(float); }
};

using kernels::align_workspace;
using kernels::kOne;
using kernels::kPlain;
using kernels::kZero;

namespace {

constexpr int kThreads = 256;

// One thread per edge; duplicates add up.
__global__ void scatter_edges(const float* weight, const std::int32_t* edge_id, const std::int64_t* slot,
                              std::int64_t m, float* values) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e < m) atomicAdd(values + slot[e], weight ? weight[edge_id ? edge_id[e] : e] : 1.0F);
}

void fill_values(const Plan& p, const float* weight, float* values, cudaStream_t stream) {
    GNNTUNE_CUDA(cudaMemsetAsync(values, 0, p.value_bytes(), stream));
    const auto blocks = static_cast<unsigned>((p.m + kThreads - 1) / kThreads);
    scatter_edges<<<blocks, kThreads, 0, stream>>>(weight, p.edge_id.data(), p.slot.data(), p.m, values);
    GNNTUNE_CUDA(cudaGetLastError());
}

kernels::SpMat describe(const Plan& p, const float* values) {
    cusparseSpMatDescr_t d = nullptr;
    GNNTUNE_CUSPARSE(cusparseCreateBlockedEll(
        &d, p.padded_rows, p.padded_cols, p.block, p.ell_cols, const_cast<std::int32_t*>(p.block_cols.data()),
        const_cast<float*>(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    return kernels::SpMat(d);
}

}  // namespace

std::shared_ptr<const Plan> make_plan(const CsrFormat& csr, int block, std::int32_t k, bool weighted,
                                      StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto plan = std::make_shared<Plan>();
    Plan& p = *plan;
    p.n_rows = csr.n_rows;
    p.n_cols = csr.n_cols;
    p.k = k;
    p.m = csr.m;
    p.block = block;
    p.weighted = weighted;
    const std::int64_t block_rows = (csr.n_rows + block - 1) / block;
    p.padded_rows = block_rows * block;
    p.padded_cols = (csr.n_cols + block - 1) / block * std::int64_t{block};

    const auto m = static_cast<std::size_t>(csr.m);
    const auto row_ptr = to_host(csr.row_ptr, static_cast<std::size_t>(csr.n_rows) + 1, stream);
    const auto col_idx = to_host(csr.col_idx, m, stream);
    // Distinct block columns of each block row, ascending.
    std::vector<std::vector<std::int32_t>> columns(static_cast<std::size_t>(block_rows));
    std::size_t widest = 1;
    for (std::int64_t r = 0; r < block_rows; ++r) {
        auto& list = columns[static_cast<std::size_t>(r)];
        const auto last = std::min<std::int64_t>((r + 1) * block, csr.n_rows);
        for (auto e = row_ptr[static_cast<std::size_t>(r * block)]; e < row_ptr[static_cast<std::size_t>(last)]; ++e) {
            list.push_back(col_idx[static_cast<std::size_t>(e)] / block);
        }
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        widest = std::max(widest, list.size());
    }
    p.ell_cols = static_cast<std::int64_t>(widest) * block;
    std::vector<std::int32_t> block_cols(static_cast<std::size_t>(block_rows) * widest, -1);
    std::vector<std::int64_t> slot(m);
    for (std::int64_t r = 0; r < block_rows; ++r) {
        const auto& list = columns[static_cast<std::size_t>(r)];
        std::copy(list.begin(), list.end(), block_cols.begin() + r * static_cast<std::int64_t>(widest));
        const auto last = std::min<std::int64_t>((r + 1) * block, csr.n_rows);
        for (std::int64_t i = r * block; i < last; ++i) {
            for (auto e = row_ptr[static_cast<std::size_t>(i)]; e < row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
                const std::int32_t col = col_idx[static_cast<std::size_t>(e)];
                const auto at = std::lower_bound(list.begin(), list.end(), col / block) - list.begin();
                slot[static_cast<std::size_t>(e)] = i * p.ell_cols + at * block + col % block;
            }
        }
    }
    p.block_cols = to_device(block_cols.data(), block_cols.size());
    p.slot = to_device(slot.data(), slot.size());
    if (csr.edge_id) {
        const auto ids = to_host(csr.edge_id, m, stream);
        p.edge_id = to_device(ids.data(), ids.size());
    }
    if (!weighted) {
        p.values = DeviceBuffer<float>(p.value_bytes() / sizeof(float));
        fill_values(p, nullptr, p.values.data(), stream);
    }
    DeviceBuffer<float> nowhere(1);  // sizes alone decide the buffer
    const kernels::SpMat matrix = describe(p, weighted ? nowhere.data() : p.values.data());
    const kernels::DnMat x = kernels::row_major(p.padded_cols, k, nowhere.data());
    const kernels::DnMat y = kernels::row_major(p.padded_rows, k, nowhere.data());
    const kernels::CusparseLease handle(stream);
    GNNTUNE_CUSPARSE(cusparseSpMM_bufferSize(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero,
                                             y.get(), CUDA_R_32F, CUSPARSE_SPMM_BLOCKED_ELL_ALG1, &p.buffer_bytes));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    return plan;
}

namespace {

struct Layout {
    std::size_t values = 0;
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t buffer = 0;
    std::size_t total = 0;
};

Layout layout_of(const Plan& p) {
    const auto width = static_cast<std::size_t>(p.k) * sizeof(float);
    Layout l;
    const std::size_t values = p.weighted ? align_workspace(p.value_bytes()) : 0;
    const std::size_t x =
        p.padded_cols != p.n_cols ? align_workspace(static_cast<std::size_t>(p.padded_cols) * width) : 0;
    const std::size_t y =
        p.padded_rows != p.n_rows ? align_workspace(static_cast<std::size_t>(p.padded_rows) * width) : 0;
    l.x = values;
    l.y = l.x + x;
    l.buffer = l.y + y;
    l.total = l.buffer + align_workspace(p.buffer_bytes);
    return l;
}

}  // namespace

std::size_t workspace_bytes(const Plan& p) {
    return layout_of(p).total;
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto* space = static_cast<unsigned char*>(workspace);
    const Layout l = layout_of(p);
    const auto width = static_cast<std::size_t>(p.k) * sizeof(float);

    const float* values = p.values.data();
    if (p.weighted) {
        auto* target = reinterpret_cast<float*>(space + l.values);
        fill_values(p, o.edge_weight, target, stream);
        values = target;
    }
    const float* x_data = o.x;
    if (p.padded_cols != p.n_cols) {
        const std::size_t bytes = static_cast<std::size_t>(p.n_cols) * width;
        GNNTUNE_CUDA(cudaMemcpyAsync(space + l.x, o.x, bytes, cudaMemcpyDeviceToDevice, stream));
        GNNTUNE_CUDA(
            cudaMemsetAsync(space + l.x + bytes, 0, static_cast<std::size_t>(p.padded_cols) * width - bytes, stream));
        x_data = reinterpret_cast<const float*>(space + l.x);
    }
    const bool pads_y = p.padded_rows != p.n_rows;
    float* y_data = pads_y ? reinterpret_cast<float*>(space + l.y) : o.y;

    const kernels::SpMat matrix = describe(p, values);
    const kernels::DnMat x = kernels::row_major(p.padded_cols, p.k, x_data);
    const kernels::DnMat y = kernels::row_major(p.padded_rows, p.k, y_data);
    const kernels::CusparseLease handle(stream);
    GNNTUNE_CUSPARSE(cusparseSpMM(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero, y.get(),
                                  CUDA_R_32F, CUSPARSE_SPMM_BLOCKED_ELL_ALG1, space + l.buffer));
    if (pads_y) {
        GNNTUNE_CUDA(
            cudaMemcpyAsync(o.y, y_data, static_cast<std::size_t>(p.n_rows) * width, cudaMemcpyDeviceToDevice, stream));
    }
}

}  // namespace gnntune::spmm_cusparse_bell
