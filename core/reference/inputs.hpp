// Inputs of a problem in host memory: drawn by whoever checks or times it, saved results of the forward op computed.
#pragma once

#include <functional>
#include <vector>

#include "core/reference/oracle.hpp"
#include "core/registry/arrays.hpp"

namespace gnntune::reference {

class Inputs {
public:
    /// Values of one input array; `number` is its place among the inputs.
    using Draw = std::function<HostVector<float>(const ArraySpec& spec, std::size_t number)>;

    Inputs() = default;
    /// `draw` gives every input but the saved ones, which are computed from them by the forward op's oracle and rounded
    /// to fp32. `csr` and `edge_id` as in oracles(). `numbers` gives slope, dropout and seed.
    Inputs(const Query& query, const CsrView& csr, const std::int32_t* edge_id, const Draw& draw,
           const Operands& numbers);

    // Moves keep the arrays where they are, copies would not.
    Inputs(Inputs&&) = default;
    Inputs& operator=(Inputs&&) = default;

    /// Host pointers to the inputs, and the numbers; outputs are null.
    const Operands& operands() const { return operands_; }
    /// Values of every input, in the order of arrays_of().
    const std::vector<HostVector<float>>& arrays() const { return arrays_; }

private:
    std::vector<HostVector<float>> arrays_;
    Operands operands_;
};

}  // namespace gnntune::reference
