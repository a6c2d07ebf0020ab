// What sampling leaves of a graph, as far as the registry's queries know it.
#pragma once

#include "core/graph/sample.hpp"
#include "core/registry/variant.hpp"

namespace gnntune {

/// Edges that sampling by `rule` keeps: counted where degrees are known, else the most that it can keep.
double sampled_edges(const Query& query, const SampleRule& rule);

/// Most edges that it keeps of any row: the width where degrees are not known.
std::int32_t most_kept(const Query& query, const SampleRule& rule);

}  // namespace gnntune
