#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_cusparse {

/// cuSPARSE's own numbers for its algorithms (cusparseSpMMAlg_t), so that this header needs no cuSPARSE.
enum Algorithm : int {
    kDefault = 0,
    kCooAlg1 = 1,
    kCooAlg2 = 2,
    kCooAlg3 = 3,
    kCsrAlg1 = 4,
    kCooAlg4 = 5,
    kCsrAlg2 = 6,
    kCsrAlg3 = 12,
};

struct CusparseParams {
    int alg = kDefault;
    int preprocess = 0;  ///< 1: cusparseSpMM_preprocess at prepare, buffer owned by the plan

    bool operator==(const CusparseParams&) const = default;
    bool coo() const { return alg == kCooAlg1 || alg == kCooAlg2 || alg == kCooAlg3 || alg == kCooAlg4; }
    static const std::vector<ParamField<CusparseParams>>& fields();
    static Verdict legal(const Query& query, const CusparseParams& params);
    static CusparseParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_cusparse
