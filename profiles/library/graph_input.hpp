// From the arrays of a C caller to a Graph: checks, narrows and copies what needs it, borrows the rest.
#pragma once

#include <memory>

#include "core/include/gnntune/gnntune.h"
#include "core/registry/graph.hpp"
#include "profiles/library/context.hpp"

namespace gnntune::library {

std::unique_ptr<Graph> graph_from(const Context& context, const gnntune_csr& csr, StreamHandle stream);
std::unique_ptr<Graph> graph_from(const Context& context, const gnntune_coo& coo, StreamHandle stream);

}  // namespace gnntune::library
