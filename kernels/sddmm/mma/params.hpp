#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_mma {

/// A warp has up to `chunk` TC blocks of a window at once: the rows of x_row that it loads serve all of them.
struct MmaParams {
    int vec = 4;    ///< elements per load
    int chunk = 4;  ///< TC blocks of a warp at most

    bool operator==(const MmaParams&) const = default;
    static const std::vector<ParamField<MmaParams>>& fields();
    static Verdict legal(const Query& query, const MmaParams& params);
    static MmaParams defaults(const Query& query);
};

/// Elements of a load of 16 bytes.
constexpr int widest(DType dtype) {
    return dtype == DType::f32 ? 4 : 8;
}

}  // namespace gnntune::sddmm_mma
