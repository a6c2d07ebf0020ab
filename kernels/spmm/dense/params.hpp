#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_dense {

/// Where the dense array of a run is from.
enum Array : int {
    kOfFormat = 0,  ///< the format `dense`, built once: problems without weights
    kOfRun = 1,     ///< filled in the workspace by every run, by the format `dense_cells`: problems with weights
};

struct DenseParams {
    int array = kOfFormat;

    bool operator==(const DenseParams&) const = default;
    static const std::vector<ParamField<DenseParams>>& fields();
    static Verdict legal(const Query& query, const DenseParams& params);
    static DenseParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_dense
