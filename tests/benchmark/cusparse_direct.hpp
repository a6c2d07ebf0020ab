// cuSPARSE as an application calls it without this project: descriptors made once, cusparseSpMM per run.
#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/types.hpp"

namespace gnntune::bench {

/// y = A x, k columns, fp32, weighted, default algorithm, on the legacy stream. Arrays are in device memory. Throws
/// ErrorKind::unsupported in a build without CUDA.
class CusparseSpmm {
public:
    CusparseSpmm(const CsrView& csr, const float* x, float* y, std::int32_t k);
    ~CusparseSpmm();
    CusparseSpmm(const CusparseSpmm&) = delete;
    CusparseSpmm& operator=(const CusparseSpmm&) = delete;

    void run();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gnntune::bench
