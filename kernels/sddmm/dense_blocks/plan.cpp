#include "kernels/sddmm/dense_blocks/plan.hpp"

#include "core/common/host_vector.hpp"
#include "core/gpu/cuda_check.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::sddmm_dense_blocks {
namespace {

HostVector<std::int32_t> to_host(const std::int32_t* from, std::int64_t n, cudaStream_t stream) {
    HostVector<std::int32_t> out(static_cast<std::size_t>(n));
    GNNTUNE_CUDA(
        cudaMemcpyAsync(out.data(), from, out.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    return out;
}

/// rows[i]: which of the `n` runs that start at ptr[0 .. n - 1] has element i of `count`.
DeviceBuffer<std::int32_t> rows_of(const std::int32_t* ptr, std::int32_t n, std::int64_t count, StreamHandle stream) {
    DeviceBuffer<std::int32_t> rows(static_cast<std::size_t>(count));
    CsrFormat runs;
    runs.n_rows = n;
    runs.m = count;
    runs.row_ptr = ptr;
    formats::expand_rows(runs, rows.data(), stream);
    return rows;
}

}  // namespace

void find_rows(Plan& plan, StreamHandle handle) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const formats::DenseBlocksFormat& g = *plan.blocks;
    plan.block_row = rows_of(g.block_ptr, g.n_block_rows, g.n_blocks, handle);
    // Where each row's edges outside of blocks begin: where its first piece does, or without one the next row's.
    HostVector<std::int32_t> first = to_host(g.rest_ptr, std::int64_t{g.n_rows} + 1, stream);
    const HostVector<std::int32_t> begin = to_host(g.rest_begin, std::int64_t{g.n_rest_pieces} + 1, stream);
    for (std::int32_t& i : first) i = begin[static_cast<std::size_t>(i)];
    const DeviceBuffer<std::int32_t> ptr = to_device(first.data(), first.size());
    plan.rest_row = rows_of(ptr.data(), g.n_rows, g.n_rest, handle);
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));  // before the offsets are freed
}

}  // namespace gnntune::sddmm_dense_blocks
