#include "kernels/common/padded/launch.hpp"

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/padded/kernel.cuh"

namespace gnntune::kernels {

void enqueue_row_copies(const RowCopies& c, std::size_t element_bytes, StreamHandle stream) {
    std::int64_t most = 0;
    for (int i = 0; i < c.count; ++i) most = std::max(most, c.copies[static_cast<std::size_t>(i)].rows);
    if (most == 0) return;
    const std::int64_t bytes = most * c.to_width * static_cast<std::int64_t>(element_bytes);
    const dim3 grid(static_cast<unsigned>(ceil_div(bytes, kRowCopyThreads * kRowCopyBytes)),
                    static_cast<unsigned>(c.count));
    auto* kernel = element_bytes == 4 ? &copy_rows_kernel<std::uint32_t> : &copy_rows_kernel<std::uint16_t>;
    kernel<<<grid, kRowCopyThreads, 0, static_cast<cudaStream_t>(stream)>>>(c);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels
