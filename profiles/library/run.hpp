// The launch path: what is checked before a run is enqueued.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/enum_set.hpp"
#include "core/dispatch/plan.hpp"
#include "core/include/gnntune/gnntune.h"
#include "core/ops/op_record.hpp"

namespace gnntune::library {

/// Memory that a run reads or writes.
struct Region {
    std::string_view name;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool written = false;
};

/// Throws ErrorKind::invalid_argument in words if something that is written shares memory with anything else. None is
/// empty. `struct_name` stands before names that do not begin with "the ".
void require_apart(std::span<const Region> all, const std::string& struct_name = "");

/// How the arrays of the C ABI become the operands of one problem on one graph. Made with the plan, so that a run allocates
/// nothing.
class Binding {
public:
    Binding(Graph& graph, const Problem& problem);

    /// Operands for the launch. Throws ErrorKind::invalid_argument in words if one is missing, not aligned or not wanted,
    /// or if a number is out of its range.
    Operands operands(const gnntune_operands& given) const;
    /// Of the array of that name; -1 if the problem does not have it.
    std::int64_t elements(std::string_view name) const;
    /// Throws ErrorKind::invalid_argument in words if what a run writes, `bytes` of workspace among it, shares memory with
    /// anything else of the run or with the arrays that the graph was made from. By addresses alone: nothing is read.
    void require_apart(const gnntune_operands& given, const void* workspace, std::size_t bytes) const;

private:
    struct Slot {
        std::size_t member = 0;  ///< which array of gnntune_operands
        bool wanted = false;     ///< the problem has it
        bool required = false;   ///< and it may not be null
        ArraySpec spec;
    };
    std::vector<Slot> slots_;
    std::vector<std::size_t> unwanted_;
    std::array<Region, 2> graph_arrays_;
    EnumSet<RunNumber> numbers_;  ///< that a run has
    std::string who_;             ///< the op, in words
};

/// Throws ErrorKind::invalid_argument in words if `who` needs more, or another alignment.
void check_workspace(std::size_t needed, std::string_view who, std::string_view whom_to_ask, const void* workspace,
                     std::size_t bytes);

}  // namespace gnntune::library
