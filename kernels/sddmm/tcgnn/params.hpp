#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_tcgnn {

struct TcgnnParams {
    int warps_per_block = 1;  ///< warps that share the 16 x 16 tiles of a window
    int tiles_per_warp = 1;   ///< feature split: 16-wide feature tiles of x that a warp fetches per step

    bool operator==(const TcgnnParams&) const = default;
    static const std::vector<ParamField<TcgnnParams>>& fields();
    static Verdict legal(const Query& query, const TcgnnParams& params);
    static TcgnnParams defaults(const Query& query);
};

}  // namespace gnntune::sddmm_tcgnn
