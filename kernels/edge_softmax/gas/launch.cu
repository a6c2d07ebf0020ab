#include "kernels/edge_softmax/gas/launch.hpp"

#include "kernels/edge_softmax/gas/kernel.cuh"

namespace gnntune::edge_softmax_gas {

void launch(const CooFormat& g, int block_size, std::int32_t heads, const Operands& o, void* workspace,
            StreamHandle stream) {
    const Softmax softmax{o.edge_weight, heads};
    kernels::launch_edge_passes(g, heads, softmax, softmax, kernels::RowSums(workspace, std::int64_t{g.n_rows} * heads),
                                o.y, block_size, static_cast<cudaStream_t>(stream));
}

}  // namespace gnntune::edge_softmax_gas
