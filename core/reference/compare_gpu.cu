#include "core/reference/compare_gpu.hpp"

#include <vector>

namespace gnntune::reference {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;

struct Partial {
    double max_error;
    double error_sum;
    double worst_ratio;
    long long worst_at;
};

__device__ Partial merge(const Partial& a, const Partial& b) {
    const bool b_worse = b.worst_ratio > a.worst_ratio;
    return {a.max_error >= b.max_error ? a.max_error : b.max_error, a.error_sum + b.error_sum,
            b_worse ? b.worst_ratio : a.worst_ratio, b_worse ? b.worst_at : a.worst_at};
}

// Grid-stride over the elements; one Partial per block, merged in shared memory.
__global__ void compare_kernel(const double* value, const float* scale, const std::int32_t* chain,
                               std::int64_t row_width, std::int64_t size, double c, Rounding rounding, const void* y,
                               DType dtype, bool index, Partial* out) {
    Partial mine{0, 0, 0, -1};
    for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; i < size;
         i += static_cast<std::int64_t>(gridDim.x) * kThreads) {
        const double s = scale[i];
        const Deviation d = deviation(element(y, i, dtype, index), value[i], s, chain[i / row_width], c, rounding);
        if (s > 0) {
            mine.error_sum += d.error / s;
            mine.max_error = fmax(mine.max_error, d.error / s);
        }
        if (d.ratio > mine.worst_ratio) {
            mine.worst_ratio = d.ratio;
            mine.worst_at = i;
        }
    }
    __shared__ Partial shared[kThreads];
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = merge(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

}  // namespace

DeviceOracle::DeviceOracle(const Oracle& oracle)
    : value_(to_device(oracle.value.data(), oracle.value.size())),
      scale_(to_device(oracle.scale.data(), oracle.scale.size())),
      chain_(to_device(oracle.chain.data(), oracle.chain.size())),
      row_width_(oracle.row_width),
      index_(oracle.index),
      dtype_(oracle.dtype) {}

Comparison DeviceOracle::compare(const void* y, Precision precision, cudaStream_t stream) const {
    Comparison result;
    const auto size = static_cast<std::int64_t>(value_.size());
    if (size == 0) return result;
    const int blocks = static_cast<int>(std::min<std::int64_t>(kBlocks, (size + kThreads - 1) / kThreads));
    DeviceBuffer<Partial> partial(static_cast<std::size_t>(blocks));
    compare_kernel<<<blocks, kThreads, 0, stream>>>(value_.data(), scale_.data(), chain_.data(), row_width_, size,
                                                    operand_constant(precision), rounding_of(dtype_), y, dtype_, index_,
                                                    partial.data());
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    double error_sum = 0;
    for (const Partial& p : partial.to_host()) {
        if (p.max_error > result.max_error) result.max_error = p.max_error;
        error_sum += p.error_sum;
        if (p.worst_ratio > result.worst_ratio) {
            result.worst_ratio = p.worst_ratio;
            result.worst_at = p.worst_at;
        }
    }
    result.mean_error = error_sum / static_cast<double>(size);
    return result;
}

}  // namespace gnntune::reference
