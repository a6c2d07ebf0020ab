#include "profiles/snapshot/nearness.hpp"

#include <algorithm>
#include <cmath>

namespace gnntune::store {
namespace {

constexpr double kOtherGeneration = 10;  // more than sizes of GPUs of one generation make
constexpr double kNobodyKnows = 1000;

double octaves(std::int64_t a, std::int64_t b) {
    return a > 0 && b > 0 ? std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))) : 0;
}

}  // namespace

double distance_to(const Store& store, const Environment& here) {
    double least = kNobodyKnows;
    for (const EnvironmentRow& row : store.environments()) {
        const Environment& e = row.environment;
        if (e.backend != here.backend) continue;
        if (e.device_name == here.device_name) return 0;
        const double generation = e.compute_capability == here.compute_capability ? 0 : kOtherGeneration;
        least = std::min(least, 1 + generation + octaves(e.multiprocessors, here.multiprocessors) +
                                    octaves(e.memory_bytes, here.memory_bytes) + octaves(e.l2_bytes, here.l2_bytes));
    }
    return least;
}

}  // namespace gnntune::store
