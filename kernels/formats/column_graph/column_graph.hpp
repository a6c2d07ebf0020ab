// The edges by column as a graph of their own, whose order is the order of its edges: what is permuted into it once is
// read in order from then on.
#pragma once

#include <cstdint>
#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/graph/graph.hpp"

namespace gnntune::formats {

/// Format id "column_graph". Device memory.
struct ColumnGraph {
    std::shared_ptr<const CsrFormat> csc;  ///< whose arrays the graph borrows
    DeviceBuffer<std::int32_t> place;      ///< [m] of the caller's edge e in the graph; empty: both orders are the same
    std::unique_ptr<Graph> graph;          ///< its rows are the columns
};

inline constexpr const char* kFormatColumnGraph = "column_graph";

}  // namespace gnntune::formats
