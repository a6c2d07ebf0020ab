// How far a right result may be from the oracle. The one table of constants, with where each comes from.
//
// An element y = sum of d products, s = sum of |products|, accumulated in fp32 in any order and rounded to its storage
// type once, passes if
//     |y - ref| <= s * (c + u_acc * sqrt(d)) + u_out * |ref| + tiny
// c bounds what the operands lose before they are multiplied (that they were stored in 16 bits is no loss: the oracle
// starts from what is stored), u_acc * sqrt(d) what fp32 accumulation loses: rounding errors of a chain behave like a
// random walk, so sqrt(d) and not d (measured worst cases stay below a third of it). Those of like terms do not: one
// chain of equal ones leaves the tolerance from about 500 on (13 times it at 20,000), so kernels add up long rows in
// pieces; which do not is in docs/measuring.md. u_out is the storage type's.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/common/float16.hpp"
#include "core/common/host_device.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::reference {

/// Unit roundoff of fp32 accumulation, 2^-24.
inline constexpr double kAccumulationUnit = 1.0 / (1 << 24);

/// The operand constant c of a precision.
///   fp32: 4e-6 = 67 * 2^-24. One rounding per product and up to 6 reassociated partial sums cost at most 8 * 2^-24;
///         the rest allows fused epilogues and blocked summation of any shape.
///   tf32: 1.0e-3. Round-to-nearest to 11 significant bits loses 2^-11 per operand, two operands 9.8e-4.
///   fp16: 9.8e-4, the same significand as tf32. Range is the variant's concern.
///   bf16: 7.9e-3. Round-to-nearest to 8 significant bits loses 2^-8 per operand, two operands 7.8e-3.
constexpr double operand_constant(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return 4e-6;
        case Precision::tf32:
            return 1.0e-3;
        case Precision::fp16:
            return 9.8e-4;
        case Precision::bf16:
            return 7.9e-3;
    }
    return 0.0;
}

/// What rounding to a storage type does.
struct Rounding {
    double unit;     ///< u_out: half the distance of neighbours, relative; for f32 the operand constant has it
    double tiny;     ///< absolute slack: f16 half of 2^-24, its smallest number; else for results whose terms underflow
    double largest;  ///< finite number; what is beyond may be infinite
};
constexpr Rounding rounding_of(DType dtype) {
    switch (dtype) {
        case DType::f16:
            return {1.0 / (1 << 11), 1.0 / (1 << 25), 65504.0};
        case DType::bf16:
            return {1.0 / (1 << 8), 1e-30, 3.3895313892515355e38};
        case DType::f32:
            break;
    }
    return {0.0, 1e-30, 3.4028234663852886e38};
}

/// Element i of an array of `dtype`, or of int32 for an index.
GNNTUNE_HOST_DEVICE inline double element(const void* array, std::int64_t i, DType dtype, bool index) {
    if (index) return static_cast<const std::int32_t*>(array)[i];
    if (dtype == DType::f16) return to_float(static_cast<const Float16*>(array)[i]);
    if (dtype == DType::bf16) return to_float(static_cast<const BFloat16*>(array)[i]);
    return static_cast<const float*>(array)[i];
}

/// How one element compares: |got - expected|, and how many times that is what it may be; both infinite for NaN.
struct Deviation {
    double error;
    double ratio;
};
GNNTUNE_HOST_DEVICE inline Deviation deviation(double got, double expected, double scale, double chain,
                                               double operand_constant, const Rounding& rounding) {
    // Equal first: infinities (the log-sum-exp of an empty row) have no difference.
    if (got == expected) return {0.0, 0.0};
    const double before = scale * (operand_constant + kAccumulationUnit * std::sqrt(chain));
    if (std::isinf(got) && (got > 0) == (expected > 0) && std::fabs(expected) + before > rounding.largest)
        return {0.0, 0.0};
    const double error = std::fabs(got - expected);
    const double ratio = error / (before + rounding.unit * std::fabs(expected) + rounding.tiny);
    if (std::isnan(ratio) || std::isnan(error)) return {INFINITY, INFINITY};
    return {error, ratio};
}

}  // namespace gnntune::reference
