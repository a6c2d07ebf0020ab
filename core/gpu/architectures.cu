#include "core/gpu/architectures.hpp"

#include <array>

namespace gnntune::gpu {

std::span<const std::int32_t> compiled_architectures() {
    static const auto kArchitectures = [] {
        std::array list{__CUDA_ARCH_LIST__};  // by nvcc, of what it was called for: 800,900,1000
        for (auto& architecture : list) architecture /= 10;
        return list;
    }();
    return kArchitectures;
}

}  // namespace gnntune::gpu
