// Which rows which teams have: what the host plans and the kernel reads.
#pragma once

#include <cstdint>

namespace gnntune::spmm_binned {

/// Places first_row ... first_row + n_rows - 1 of `rows`; teams of 2^shift threads.
struct Bin {
    std::int32_t first_row;
    std::int32_t n_rows;
    unsigned first_block;
    int shift;
};

inline constexpr int kMaxThreads = 512;
inline constexpr int kMaxBins = 10;  // teams of 1, 2, 4, ... 512 threads

}  // namespace gnntune::spmm_binned
