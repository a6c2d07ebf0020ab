// The launch path: what is checked before a run is enqueued.
#pragma once

#include <cstddef>
#include <vector>

#include "core/dispatch/plan.hpp"
#include "core/include/gnntune/gnntune.h"
#include "core/registry/arrays.hpp"

namespace gnntune::library {

/// How the arrays of the C ABI become the operands of one problem. Made with the plan, so that a run allocates nothing.
class Binding {
public:
    explicit Binding(const Query& query);

    /// Operands for the launch. Throws ErrorKind::invalid_argument in words if one is missing, not aligned or not wanted,
    /// or if a number is out of its range.
    Operands operands(const gnntune_operands& given) const;

private:
    struct Slot {
        std::size_t member = 0;  ///< which array of gnntune_operands
        bool wanted = false;     ///< the problem has it
        bool required = false;   ///< and it may not be null
        ArraySpec spec;
    };
    std::vector<Slot> slots_;
    std::vector<std::size_t> unwanted_;
    Op forward_ = Op::spmm;  ///< the op whose numbers a run has
    std::string who_;        ///< the op, in words
};

/// Throws ErrorKind::invalid_argument in words if the plan needs more, or another alignment.
void check_workspace(const Plan& plan, const void* workspace, std::size_t bytes);

}  // namespace gnntune::library
