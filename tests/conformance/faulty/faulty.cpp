#include "tests/conformance/faulty/faulty.hpp"

#include <utility>

namespace gnntune::conformance {

std::vector<FaultyVariant> faulty_variants(Backend backend) {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) return faulty_variants_on_cuda();
#endif
    if (backend != Backend::cpu) return {};
    std::vector<FaultyVariant> all = faulty_variants_on_cpu();
    for (FaultyVariant& faulty : faulty_variants_on_hubs()) all.push_back(std::move(faulty));
    return all;
}

}  // namespace gnntune::conformance
