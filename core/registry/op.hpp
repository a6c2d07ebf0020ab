// The words of a problem: which op, on which backend, in which storage type, and the sizes and demands that go with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/ops/list.hpp"

namespace gnntune {

/// What is computed: core/ops/list.hpp names them, core/ops/<op>/ has all of one op, its definition by formula among it.
enum class Op : std::int32_t {
#define GNNTUNE_OP(name) name,
    GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP
};

enum class Backend : std::int32_t { cpu, cuda };

/// Storage type of a problem's numbers: features, weights, scores and results. Sums are formed in fp32 or
/// better and rounded once, but by variants of reduced precision.
enum class DType : std::int32_t { f32, f16, bf16 };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
    return dtype == DType::f32 ? 4 : 2;
}

/// How the terms of a row become one. max: the largest of w_ij x[j,:], each feature by itself; no self loops.
enum class Reduce : std::int32_t { sum, mean, max };

/// `forward` uses A as given, `reversed` uses A transposed (what the backward pass of spmm needs).
enum class Direction : std::int32_t { forward, reversed };

constexpr Direction opposite(Direction d) {
    return d == Direction::forward ? Direction::reversed : Direction::forward;
}

std::string_view to_text(Op op);
std::string_view to_text(Backend backend);
std::string_view to_text(DType dtype);
std::string_view to_text(Reduce reduce);
std::string_view to_text(Direction direction);

std::optional<Op> parse_op(std::string_view text);
std::optional<Backend> parse_backend(std::string_view text);
std::optional<DType> parse_dtype(std::string_view text);
std::optional<Reduce> parse_reduce(std::string_view text);
std::optional<Direction> parse_direction(std::string_view text);

/// Every value that has a text, in the order of the enum.
std::span<const Op> every_op();
std::span<const DType> every_dtype();
std::span<const Reduce> every_reduce();
std::span<const Direction> every_direction();

/// An op with its sizes. Two problems are the same row of the store exactly when they compare equal.
struct Problem {
    Op op = Op::spmm;
    std::int32_t k = 0;      ///< feature dimension, >= 1
    std::int32_t heads = 1;  ///< >= 1
    DType dtype = DType::f32;
    Reduce reduce = Reduce::sum;
    bool weighted = false;  ///< edge weights take part
    Direction direction = Direction::forward;
    bool self_loop = false;  ///< every vertex is its own neighbour too, with weight self_weight[i] (square graphs)

    bool operator==(const Problem&) const = default;
};

/// Canonical text: "spmm k=64 f32 sum weighted forward" (heads only where it is not 1, "self_loop" where it is set).
std::string to_text(const Problem& problem);

/// How many weights an edge of spmm or its gradient has, and a self loop likewise: one for each head in weighted sums
/// and means. 1 elsewhere: heads of other problems share what weights there are.
std::int32_t weight_heads(const Problem& problem);

/// Whether several heads are no more than a way to write a width: those of spmm and its gradient that share their
/// weights.
bool heads_are_a_width(const Problem& problem);

/// The problem without what its op does not look at: k of edge_softmax, gcn_norm and conversions becomes 1, heads of
/// ops that have none become 1, the storage type of conversions f32; weights of attention and conversions and self
/// loops of all but spmm and its gradient are dropped. Heads of spmm and its gradient that share their weights are folded
/// into k, where k heads is at most 2^28. What differs in such things alone is one problem.
Problem normalised(Problem problem);

/// Throws ErrorKind::invalid_argument for k or heads below 1 and maxima with self loops, unsupported for k heads > 2^28
void validate(const Problem& problem);

/// What the caller demands of the answer. Not part of a measurement's identity: one tuning answers all of them.
struct Constraints {
    double max_error =
        0.0;  ///< largest error allowed, |y - exact| over the sum of |terms| of an element; 0 = fp32 arithmetic only
    bool allow_sampling = false;  ///< variants that drop edges by design may be chosen
    bool deterministic = false;   ///< only variants that repeat bit for bit
    std::size_t workspace_limit_bytes = SIZE_MAX;
    std::int32_t operand_alignment = 16;  ///< bytes to which the caller promises to align the arrays of every run
    double expected_calls = 1000.0;       ///< runs over which the cost of building formats is spread, > 0

    bool operator==(const Constraints&) const = default;
};

}  // namespace gnntune
