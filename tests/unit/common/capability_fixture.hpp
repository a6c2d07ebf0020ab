// Graphs, widths and devices of which every variant can do some, for tests of what variants can do at all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/registry/device.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::test {

/// Whole vectors of 16 bytes and others.
inline constexpr std::int32_t kWidths[] = {64, 33, 10};
inline constexpr std::int32_t kHeads[] = {1, 2};

/// The host, or the limits of a device of compute capability 9.0, which need not be here.
inline Device device_of(Backend backend) {
    return backend == Backend::cpu ? cpu_device() : absent_cuda_device();
}

/// The problem on a large sparse graph, on a small one and on one whose matrix is half full. `device` outlives them.
inline std::vector<Query> queries_of(const Problem& problem, const Device& device) {
    std::vector<Query> out;
    for (const auto& [n, m] : std::array<std::pair<std::int64_t, std::int64_t>, 3>{
             {{100'000, 1'000'000}, {4000, 40'000}, {1000, 500'000}}}) {
        Query query;
        query.problem = problem;
        query.n_rows = query.n_cols = n;
        query.m = m;
        query.device = &device;
        out.push_back(query);
    }
    return out;
}

/// Whether a variant was refused for a library that this machine lacks, which says nothing of the variant.
inline bool is_of_the_machine(const std::string& reason) {
    return reason.find("cublas") != std::string::npos;
}

}  // namespace gnntune::test
