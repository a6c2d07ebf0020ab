// The roofline of a problem on a graph: one number for all exact variants, and one for each sample (docs/measuring.md).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/features/features.hpp"
#include "core/registry/variant.hpp"

namespace gnntune {

/// A measured gather rate: rows of `row_bytes` at random from a table of `table_bytes`.
struct GatherRate {
    double table_bytes = 0;
    double row_bytes = 0;
    double gbps = 0;
};

/// What `gnntune doctor --measure` stores of a device.
struct DeviceConstants {
    double copy_gbps = 0;  ///< large device-to-device copy, bytes read plus bytes written
    std::vector<GatherRate> gather;
};

/// Gather rate for a table and row size: bilinear in the logarithms of both, clamped to the measured range.
double gather_gbps(const DeviceConstants& constants, double table_bytes, double row_bytes);

struct Roofline {
    Work work;
    double floor_us = 0;   ///< (Q_A + Q_Bmin + Q_C) / BW_d
    double gather_us = 0;  ///< (Q_A + Q_Bmax + Q_C) / BW_gather
    double us() const { return floor_us > gather_us ? floor_us : gather_us; }
};

/// `gathered_rows` is U of the query's problem (core/registry/variant.hpp).
Roofline roofline(const Query& query, std::int64_t gathered_rows, const DeviceConstants& constants);

/// What a config of `variant` is held to: the problem's roofline, and for one that samples that of the edges it keeps,
/// which refer to U vertices at most.
Roofline roofline_of(const Variant& variant, const Params& params, const Query& query, std::int64_t gathered_rows,
                     const DeviceConstants& constants);

}  // namespace gnntune
