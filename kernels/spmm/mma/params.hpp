#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_mma {

/// A warp has up to `chunk` TC blocks of a window and `tiles` tiles of 16 vec features (8 vec in 16-bit storage).
struct MmaParams {
    int vec = 4;     ///< elements per load
    int tiles = 1;   ///< feature tiles of a warp
    int chunk = 32;  ///< TC blocks of a warp at most; the warps' sums meet in the workspace

    bool operator==(const MmaParams&) const = default;
    static const std::vector<ParamField<MmaParams>>& fields();
    static Verdict legal(const Query& query, const MmaParams& params);
    /// No chunk that windows of mean width exceed by up to a quarter, where a larger one leaves them whole (README.md).
    static bool searched(const Query& query, const MmaParams& params);
    static MmaParams defaults(const Query& query);
};

/// Features of a tile of loads of `vec` elements.
constexpr int tile_features(int vec, DType dtype) {
    return (dtype == DType::f32 ? 16 : 8) * vec;
}

}  // namespace gnntune::spmm_mma
