// How far a right result may be from the oracle. The one table of constants, with where each comes from.
//
// An element y = sum of d products, s = sum of |products|, accumulated in fp32 in any order, passes if
//     |y - ref| <= s * (c + u_acc * sqrt(d)) + tiny
// c bounds what the operands lose before they are multiplied, u_acc * sqrt(d) what fp32 accumulation loses: rounding
// errors of a chain behave like a random walk, so sqrt(d) and not d (measured worst cases stay below a third of it).
#pragma once

#include <cmath>

#include "core/registry/variant.hpp"

namespace gnntune::reference {

/// Unit roundoff of fp32 accumulation, 2^-24.
inline constexpr double kAccumulationUnit = 1.0 / (1 << 24);
/// Absolute slack for results whose terms all underflow.
inline constexpr double kTiny = 1e-30;

/// The operand constant c of a precision.
///   fp32: 4e-6 = 67 * 2^-24. One rounding per product and up to 6 reassociated partial sums cost at most 8 * 2^-24; the
///         rest allows fused epilogues and blocked summation of any shape.
///   tf32: 1.0e-3. Round-to-nearest to 11 significant bits loses 2^-11 per operand, two operands 9.8e-4.
///   fp16: 9.8e-4, the same significand as tf32. Range is the variant's concern.
///   bf16: 7.9e-3. 2^-8 relative spacing, 2^-9 rounding, two operands, each up to 2^-8 in the worst case.
constexpr double operand_constant(Precision precision) {
    switch (precision) {
        case Precision::fp32: return 4e-6;
        case Precision::tf32: return 1.0e-3;
        case Precision::fp16: return 9.8e-4;
        case Precision::bf16: return 7.9e-3;
    }
    return 0.0;
}

/// Relative tolerance of an element whose chain has `d` terms; multiply by its scale s and add kTiny.
inline double relative_tolerance(Precision precision, double d) {
    return operand_constant(precision) + kAccumulationUnit * std::sqrt(d);
}

}  // namespace gnntune::reference
