#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_edges {

/// A group of `lanes` threads computes `unroll` edges at once; with heads, as many products of an edge and a head.
struct EdgesParams {
    int lanes = 8;   ///< threads per edge
    int vec = 4;     ///< elements per load
    int unroll = 2;  ///< edges whose loads are in flight together

    bool operator==(const EdgesParams&) const = default;
    static const std::vector<ParamField<EdgesParams>>& fields();
    static Verdict legal(const Query& query, const EdgesParams& params);
    static EdgesParams defaults(const Query& query);
};

}  // namespace gnntune::sddmm_edges
