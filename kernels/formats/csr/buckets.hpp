// The conversions of kernels/formats/csr/convert.hpp by buckets instead of a radix sort: one stable split of the edges
// into ranges of groups, then every range by itself in shared memory.
#pragma once

#include "core/registry/device.hpp"
#include "core/registry/param_fields.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::formats {

inline constexpr std::int64_t kMostBucketEdges = std::int64_t{1} << 24;

/// Whether a list of m edges in `groups` rows, or columns of a CSR, can be grouped by buckets on `device`; null: on any.
Verdict require_buckets(const Device* device, std::int64_t m, std::int64_t groups, std::int64_t others);

struct BucketParams {
    int block_size = 512;  ///< threads of a block
    int keys = 8;          ///< edges of a thread
    int chained = 0;       ///< whether a launch begins before the one ahead has ended (kernels/common/chained.cuh)

    int chunk() const { return block_size * keys; }

    bool operator==(const BucketParams&) const = default;
    static const std::vector<ParamField<BucketParams>>& fields();
    static Verdict legal(const Query& query, const BucketParams& params);
    static BucketParams defaults(const Query& query);
    /// Those that are predicted to be the fastest; measured on one graph of 367,662 edges (csr_to_csc/buckets/README.md).
    static BucketParams of_edges(const Device* device, std::int64_t m);
};

/// As group_by_row() and group_by_column(), of what require_buckets() allows: the same result. The functions of bytes
/// belong into prepare(): they also let the kernels use shared memory.
std::size_t bucket_by_row_bytes(const CooFormat& list, const BucketParams& p);
void bucket_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, const BucketParams& p,
                   StreamHandle stream);
std::size_t bucket_by_column_bytes(const CsrFormat& csr, const BucketParams& p);
void bucket_by_column(const CsrFormat& csr, const GroupedEdges& out, void* workspace, const BucketParams& p,
                      StreamHandle stream);

/// Traffic and launches; `source_bytes` is read of an edge beside its group.
CostTerms bucket_cost(std::int64_t m, std::int64_t groups, std::int64_t others, const BucketParams& p,
                      double source_bytes);

}  // namespace gnntune::formats
