// Double-precision CPU references: slow, readable, and the definition of what each op means, which
// core/ops/<op>/oracle.cpp has.
#pragma once

#include <cstdint>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/graph/types.hpp"
#include "core/reference/tolerance.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::reference {

/// A result with what is needed to judge another one: for each element its value and the scale s = sum of |terms|, and
/// for each row of `row_width` elements the chain length d.
struct Oracle {
    HostVector<double> value;
    HostVector<float> scale;
    HostVector<std::int32_t> chain;
    std::int64_t row_width = 1;
    bool index = false;        ///< the result is int32 and has to be equal
    DType dtype = DType::f32;  ///< in which the result is stored, unless it is int32

    std::int64_t size() const { return static_cast<std::int64_t>(value.size()); }
};

/// What oracles() (core/ops/oracles.hpp) is asked, as the oracle of one op gets it: the seed_offset of `inputs` is read.
struct Question {
    const Problem& problem;
    const CsrView& csr;
    const std::int32_t* edge_id = nullptr;
    const Operands& inputs;
    const SampleRule* rule = nullptr;
};

/// How a result compares with an oracle.
struct Comparison {
    double max_error = 0;        ///< largest |y - ref| / s (elements with s > 0)
    double mean_error = 0;       ///< mean of the same
    double worst_ratio = 0;      ///< largest |y - ref| / tolerance; infinite for NaN
    std::int64_t worst_at = -1;  ///< element of worst_ratio
    bool pass() const { return worst_ratio <= 1.0; }
};

/// Compares `y` [oracle.size()], elements of the oracle's dtype (int32 for an index oracle) in host memory;
/// OpenMP-parallel.
Comparison compare(const Oracle& oracle, const void* y, Precision precision);

}  // namespace gnntune::reference
