// The conversions of kernels/formats/csr/convert.hpp by runs instead of a radix sort: chunks of edges split into ranges of
// groups where they stand, then every range gathered and ordered by itself in shared memory.
#pragma once

#include "core/registry/device.hpp"
#include "core/registry/param_fields.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::formats {

inline constexpr std::int64_t kMostRunEdges = std::int64_t{1} << 24;

/// Whether a list of m edges in `groups` rows, or columns of a CSR, can be grouped by runs on `device`; null: on any.
Verdict require_runs(const Device* device, std::int64_t m, std::int64_t groups, std::int64_t others);

struct RunParams {
    int chunk = 4096;  ///< edges that a block splits
    int part = 4096;   ///< edges that a block orders at most

    bool operator==(const RunParams&) const = default;
    static const std::vector<ParamField<RunParams>>& fields();
    static Verdict legal(const Query& query, const RunParams& params);
    static RunParams defaults(const Query& query);
    /// Of m edges in `groups` rows, or columns of a CSR.
    static RunParams of_edges(const Device* device, std::int64_t m, std::int64_t groups);
};

/// As group_by_row() and group_by_column(), of what require_runs() allows: the same result. The functions of bytes belong
/// into prepare(): they also let the kernels use shared memory.
std::size_t run_by_row_bytes(const CooFormat& list, const RunParams& p);
void run_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, const RunParams& p, bool chained,
                StreamHandle stream);
std::size_t run_by_column_bytes(const CsrFormat& csr, const RunParams& p);
void run_by_column(const CsrFormat& csr, const GroupedEdges& out, void* workspace, const RunParams& p, bool chained,
                   StreamHandle stream);

/// Whether launches may overlap on `device` (kernels/common/chained.cuh).
inline bool runs_chained(const Device& device) {
    return device.compute_capability >= 90;
}

/// Traffic and launches; `source_bytes` is read of an edge beside its group.
CostTerms run_cost(std::int64_t m, std::int64_t groups, std::int64_t others, const RunParams& p, double source_bytes);

}  // namespace gnntune::formats
