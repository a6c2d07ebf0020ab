#include "kernels/common/rows_by_degree.hpp"

#include <utility>

namespace gnntune::kernels {

RowsByDegree::RowsByDegree(DeviceBuffer<std::int32_t> order, std::array<std::int32_t, kDegreeClasses + 1> begin,
                           std::vector<LongRow> long_rows)
    : order_(std::move(order)),
      begin_(begin),
      long_rows_(std::move(long_rows)),
      memory_(current_memory(MemoryKind::device)) {}

std::shared_ptr<const RowPieces> RowsByDegree::pieces(std::int32_t piece_edges) const {
    const std::lock_guard lock(mutex_);
    auto& known = pieces_[piece_edges];
    if (!known) {
        const MemoryScope scope(MemoryKind::device, memory_);
        known = std::make_shared<const RowPieces>(cut_rows(long_rows_, piece_edges, piece_edges));
    }
    return known;
}

}  // namespace gnntune::kernels
