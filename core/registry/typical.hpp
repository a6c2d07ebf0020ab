// A typical problem to ask variants about their params when no graph is at hand.
#pragma once

#include <cstdint>
#include <optional>

#include "core/registry/variant.hpp"

namespace gnntune {

/// `problem` on a graph of 100 000 vertices and a million edges. `device` must outlive the query.
Query typical_query(const Problem& problem, const Device& device);

/// The typical problem of that width, or else of one more, and of that storage type that the variant can do; nothing if it
/// can do none. `device` must outlive the query.
std::optional<Query> possible_query(const Variant& variant, std::int32_t k, DType dtype, const Device& device);
/// The same, of the first storage type that the variant has.
std::optional<Query> possible_query(const Variant& variant, std::int32_t k, const Device& device);

}  // namespace gnntune
