// From the arrays of a C caller to a Graph: checks, narrows and copies what needs it, borrows the rest.
#pragma once

#include <memory>

#include "core/include/gnntune/gnntune.h"
#include "core/registry/graph.hpp"
#include "profiles/library/context.hpp"

namespace gnntune::library {

std::unique_ptr<Graph> graph_from(const Context& context, const gnntune_csr& csr, StreamHandle stream);
std::unique_ptr<Graph> graph_from(const Context& context, const gnntune_coo& coo, StreamHandle stream);

/// Whether plans of such a graph are made in stream order: it is transient, its arrays are borrowed and trusted, and the
/// context's memory keeps that order. Not where a config is forced, whatever that needs.
bool is_for_stream_order(const Context& context, const gnntune_csr& csr);
bool is_for_stream_order(const Context& context, const gnntune_coo& coo);

}  // namespace gnntune::library
