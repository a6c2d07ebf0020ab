#pragma once

#include "core/registry/variant.hpp"
#include "kernels/common/binned_attend.hpp"

namespace gnntune::agnn_binned {

struct State {
    kernels::BinnedAttendPlan rows;
    bool stored_norms;

    /// Inverse norms of x in the workspace; null if a gathered row gives its own.
    float* norms(kernels::WorkspaceCutter& space) const {
        return stored_norms ? space.take<float>(std::int64_t{rows.csr->n_cols} * rows.heads) : nullptr;
    }
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::agnn_binned
