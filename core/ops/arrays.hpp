// Arrays of a problem: which of those in core/registry/operands.hpp its op reads and writes, in which shapes. The dispatcher
// library, the tuner and the conformance suite bind operands by this; core/ops/<op>/op.cpp says it for one op.
//
// Elements are of the problem's dtype, but for lse, which is f32 in every problem, and int32 arrays. n_rows and n_cols are
// those of the direction.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/registry/variant.hpp"

namespace gnntune {

/// How an input is drawn for checks and timing.
enum class Fill : std::int32_t {
    values,        ///< both signs, around 1
    positive,      ///< above 0: weights of gcn_norm
    logits,        ///< both signs, wide enough that a softmax is far from uniform
    saved_y,       ///< y of the forward op on the same inputs
    saved_lse,     ///< lse of the forward op on the same inputs
    saved_argmax,  ///< argmax of the forward op on the same inputs
};

/// One of the arrays that there are. Exactly one of the four members is set.
struct ArrayMember {
    std::string_view name;  ///< of the member of Operands, as in the C ABI
    const float* Operands::*input = nullptr;
    const std::int32_t* Operands::*index_input = nullptr;
    float* Operands::*output = nullptr;
    std::int32_t* Operands::*index_output = nullptr;
    bool always_f32 = false;  ///< whatever the problem's dtype
};

inline constexpr std::array kArrayMembers{
#define GNNTUNE_READ(name) ArrayMember{#name, &Operands::name, nullptr, nullptr, nullptr, false},
#define GNNTUNE_READ_F32(name) ArrayMember{#name, &Operands::name, nullptr, nullptr, nullptr, true},
#define GNNTUNE_READ_INDEX(name) ArrayMember{#name, nullptr, &Operands::name, nullptr, nullptr, false},
#define GNNTUNE_WRITTEN(name) ArrayMember{#name, nullptr, nullptr, &Operands::name, nullptr, false},
#define GNNTUNE_WRITTEN_F32(name) ArrayMember{#name, nullptr, nullptr, &Operands::name, nullptr, true},
#define GNNTUNE_WRITTEN_INDEX(name) ArrayMember{#name, nullptr, nullptr, nullptr, &Operands::name, false},
    GNNTUNE_ARRAYS(GNNTUNE_READ, GNNTUNE_READ_F32, GNNTUNE_READ_INDEX, GNNTUNE_WRITTEN, GNNTUNE_WRITTEN_F32,
                   GNNTUNE_WRITTEN_INDEX)
#undef GNNTUNE_READ
#undef GNNTUNE_READ_F32
#undef GNNTUNE_READ_INDEX
#undef GNNTUNE_WRITTEN
#undef GNNTUNE_WRITTEN_F32
#undef GNNTUNE_WRITTEN_INDEX
};

/// One array of a problem.
struct ArraySpec : ArrayMember {
    std::int64_t rows = 0;
    std::int64_t width = 1;
    Fill fill = Fill::values;
    bool optional = false;     ///< may be null
    DType dtype = DType::f32;  ///< of its elements; int32 arrays have none

    std::int64_t size() const { return rows * width; }
    bool is_index() const { return index_input || index_output; }
    std::size_t element_bytes() const { return is_index() ? sizeof(std::int32_t) : size_of(dtype); }
    std::size_t bytes() const { return static_cast<std::size_t>(size()) * element_bytes(); }
    bool is_input() const { return input || index_input; }
    /// Writes the address of the array into its member of `operands`.
    void bind(Operands& operands, void* data) const {
        if (input) operands.*input = static_cast<const float*>(data);
        if (index_input) operands.*index_input = static_cast<const std::int32_t*>(data);
        if (output) operands.*output = static_cast<float*>(data);
        if (index_output) operands.*index_output = static_cast<std::int32_t*>(data);
    }
};

/// Every array of the problem: inputs first, then outputs.
std::vector<ArraySpec> arrays_of(const Query& query);

/// The array of that member of Operands, with its shape, for an op's record.
template <typename Pointer>
ArraySpec array(Pointer Operands::*member, std::int64_t rows, std::int64_t width = 1, Fill fill = Fill::values) {
    ArraySpec spec;
    for (const ArrayMember& m : kArrayMembers) {
        if constexpr (std::is_same_v<Pointer, const float*>) {
            if (m.input != member) continue;
        } else if constexpr (std::is_same_v<Pointer, const std::int32_t*>) {
            if (m.index_input != member) continue;
        } else if constexpr (std::is_same_v<Pointer, float*>) {
            if (m.output != member) continue;
        } else {
            if (m.index_output != member) continue;
        }
        static_cast<ArrayMember&>(spec) = m;
    }
    spec.rows = rows;
    spec.width = width;
    spec.fill = fill;
    return spec;
}
/// One that may be null.
template <typename Pointer>
ArraySpec optional_array(Pointer Operands::*member, std::int64_t rows, std::int64_t width) {
    ArraySpec spec = array(member, rows, width);
    spec.optional = true;
    return spec;
}
/// Features of sources and of targets, [n_cols, h, k] and [n_rows, h, k].
template <typename Pointer>
ArraySpec of_sources(const Query& q, Pointer Operands::*member, Fill fill = Fill::values) {
    return array(member, q.n_cols, std::int64_t{q.problem.k} * q.problem.heads, fill);
}
template <typename Pointer>
ArraySpec of_targets(const Query& q, Pointer Operands::*member, Fill fill = Fill::values) {
    return array(member, q.n_rows, std::int64_t{q.problem.k} * q.problem.heads, fill);
}
/// edge_weight [m, w] if the problem is weighted and self_weight [n_rows, w] with self loops, w = weight_heads().
void add_weights(const Query& query, std::vector<ArraySpec>& arrays, Fill fill = Fill::values);

/// The op whose results a gradient op is given; the op itself otherwise.
Op forward_of(Op op);

}  // namespace gnntune
