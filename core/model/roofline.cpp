#include "core/model/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/registry/sampled.hpp"

namespace gnntune {
namespace {

// Rates of one row size, interpolated in the logarithm of the table's bytes.
double at_row_size(const DeviceConstants& c, double row_bytes, double table_bytes) {
    const GatherRate* below = nullptr;
    const GatherRate* above = nullptr;
    for (const GatherRate& r : c.gather) {
        if (r.row_bytes != row_bytes) continue;
        if (r.table_bytes <= table_bytes && (!below || r.table_bytes > below->table_bytes)) below = &r;
        if (r.table_bytes >= table_bytes && (!above || r.table_bytes < above->table_bytes)) above = &r;
    }
    if (!below) return above ? above->gbps : 0.0;
    if (!above || above == below) return below->gbps;
    const double t = std::log(table_bytes / below->table_bytes) / std::log(above->table_bytes / below->table_bytes);
    return below->gbps + t * (above->gbps - below->gbps);
}

}  // namespace

double gather_gbps(const DeviceConstants& c, double table_bytes, double row_bytes) {
    std::set<double> sizes;
    for (const GatherRate& r : c.gather) sizes.insert(r.row_bytes);
    if (sizes.empty()) return 0.0;
    const double row = std::clamp(row_bytes, *sizes.begin(), *sizes.rbegin());
    const auto above = sizes.lower_bound(row);
    const double high = at_row_size(c, *above, table_bytes);
    if (*above == row || above == sizes.begin()) return high;
    const double below = *std::prev(above);
    const double t = std::log(row / below) / std::log(*above / below);
    const double low = at_row_size(c, below, table_bytes);
    return low + t * (high - low);
}

Roofline roofline(const Query& query, std::int64_t gathered_rows, const DeviceConstants& constants) {
    Roofline r;
    r.work = work_of(query, gathered_rows);
    const double common = r.work.a_bytes + r.work.out_bytes;
    if (constants.copy_gbps > 0) r.floor_us = (common + r.work.gather_min_bytes) / constants.copy_gbps / 1e3;
    const double rate = gather_gbps(constants, std::max(1.0, r.work.gather_min_bytes), r.work.row_bytes);
    if (rate > 0) r.gather_us = (common + r.work.gather_max_bytes) / rate / 1e3;
    return r;
}

Roofline roofline_of(const Variant& variant, const Params& params, const Query& query, std::int64_t gathered_rows,
                     const DeviceConstants& constants) {
    if (!variant.sampling) return roofline(query, gathered_rows, constants);
    Query kept = query;
    kept.m = static_cast<std::int64_t>(sampled_edges(query, variant.sampling(params)));
    return roofline(kept, std::min(gathered_rows, kept.m), constants);
}

}  // namespace gnntune
