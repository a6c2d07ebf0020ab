// Inputs of a problem in host memory: drawn by whoever checks or times it, saved results of the forward op computed.
#pragma once

#include <functional>
#include <vector>

#include "core/ops/arrays.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {

class Inputs {
public:
    /// Values of one input array; `number` is its place among the inputs.
    using Draw = std::function<HostVector<float>(const ArraySpec& spec, std::size_t number)>;

    Inputs() = default;
    /// `draw` gives every input but the saved ones, which are computed from them by the forward op's oracle. All are
    /// rounded to the array's dtype. `csr` and `edge_id` as in oracles(). `numbers` gives slope, dropout, seed and
    /// seed_offset, which is in host memory.
    Inputs(const Query& query, const CsrView& csr, const std::int32_t* edge_id, const Draw& draw,
           const Operands& numbers);

    // Moves keep the arrays where they are, copies would not.
    Inputs(Inputs&&) = default;
    Inputs& operator=(Inputs&&) = default;

    /// Host pointers to the inputs, and the numbers; outputs are null.
    const Operands& operands() const { return operands_; }
    /// Input `number`, in the order of arrays_of(), as it is stored: elements of the array's dtype, whose values
    /// operands() has as floats, or int32.
    const void* stored(std::size_t number) const { return stored_[number]; }

private:
    std::vector<HostVector<float>> arrays_;
    std::vector<HostVector<std::uint16_t>> narrow_;  ///< one for each of these, empty for f32
    std::vector<HostVector<std::int32_t>> indices_;
    std::vector<const void*> stored_;  ///< of each input, in one of the above
    Operands operands_;
};

}  // namespace gnntune::reference
