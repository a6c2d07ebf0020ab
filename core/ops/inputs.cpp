#include "core/ops/inputs.hpp"

#include "core/common/float16.hpp"
#include "core/ops/oracles.hpp"

namespace gnntune::reference {
namespace {

// Rounds `values` to T and returns the bits.
template <typename T>
HostVector<std::uint16_t> narrow(HostVector<float>& values) {
    HostVector<std::uint16_t> bits(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const T value = from_float<T>(values[i]);
        bits[i] = value.bits;
        values[i] = to_float(value);
    }
    return bits;
}

}  // namespace

Inputs::Inputs(const Query& query, const CsrView& csr, const std::int32_t* edge_id, const Draw& draw,
               const Operands& numbers)
    : operands_(numbers) {
    const auto specs = arrays_of(query);
    const auto place = [&](const ArraySpec& spec, HostVector<float> values) {
        narrow_.emplace_back();
        if (spec.dtype == DType::f16) narrow_.back() = narrow<Float16>(values);
        if (spec.dtype == DType::bf16) narrow_.back() = narrow<BFloat16>(values);
        arrays_.push_back(std::move(values));
        spec.bind(operands_, arrays_.back().data());
        stored_.push_back(spec.dtype == DType::f32 ? static_cast<const void*>(arrays_.back().data())
                                                   : narrow_.back().data());
    };
    std::vector<Oracle> forward;
    for (const ArraySpec& spec : specs) {
        if (!spec.is_input()) break;
        const bool saved =
            spec.fill == Fill::saved_y || spec.fill == Fill::saved_lse || spec.fill == Fill::saved_argmax;
        if (!saved) {
            place(spec, draw(spec, stored_.size()));
            continue;
        }
        // Saved results follow what they are computed from.
        if (forward.empty()) {
            Problem problem = query.problem;
            problem.op = forward_of(problem.op);
            forward = oracles(problem, csr, edge_id, operands_);
        }
        const Oracle& from = forward[spec.fill == Fill::saved_y ? 0 : 1];
        if (spec.index_input) {
            HostVector<std::int32_t> indices(from.value.size());
            for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(from.value[i]);
            indices_.push_back(std::move(indices));
            spec.bind(operands_, indices_.back().data());
            stored_.push_back(indices_.back().data());
            continue;
        }
        HostVector<float> rounded(from.value.size());
        for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] = static_cast<float>(from.value[i]);
        place(spec, std::move(rounded));
    }
}

}  // namespace gnntune::reference
