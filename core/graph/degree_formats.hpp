// Ids of the formats that order rows or columns by degree (kernels/formats/by_degree). Only builds with CUDA make them.
#pragma once

namespace gnntune {

inline constexpr const char* kFormatRowsByDegree = "rows_by_degree";
/// The rows_by_degree of the opposite direction, whose rows are this one's columns.
inline constexpr const char* kFormatColumnsByDegree = "columns_by_degree";

}  // namespace gnntune
