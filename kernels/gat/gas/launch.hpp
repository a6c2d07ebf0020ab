#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::gat_gas {

struct State {
    std::shared_ptr<const CooFormat> coo;
    int block_size;
    std::int32_t k;
    std::int32_t heads;
};

/// Enqueues one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_gas
