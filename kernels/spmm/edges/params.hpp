#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_edges {

inline constexpr int kUnroll = 4;  ///< edges whose gathers are in flight together

/// A group of `lanes` threads owns `chunk` consecutive edges and a tile of lanes * items * vec features.
struct EdgesParams {
    int lanes = 8;         ///< threads per chunk of edges
    int vec = 4;           ///< elements per load
    int items = 1;         ///< loads per lane and edge
    int unroll = kUnroll;  ///< has one value: stored configs name it
    int chunk = 64;        ///< edges per group, a multiple of 32

    bool operator==(const EdgesParams&) const = default;
    static const std::vector<ParamField<EdgesParams>>& fields();
    static Verdict legal(const Query& query, const EdgesParams& params);
    static EdgesParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_edges
