#include "tests/conformance/verdicts.hpp"

#include <cmath>

#include "core/common/float16.hpp"

namespace gnntune::conformance {
namespace {

using reference::Oracle;

bool within_tolerance(const Oracle& oracle, std::int64_t i, double got, Precision precision) {
    const auto at = static_cast<std::size_t>(i);
    const double chain = oracle.chain[static_cast<std::size_t>(i / oracle.row_width)];
    return reference::deviation(got, oracle.value[at], oracle.scale[at], chain, reference::operand_constant(precision),
                                reference::rounding_of(oracle.dtype))
               .ratio <= 1.0;
}

std::string sentence(std::int64_t i, double got, double expected) {
    return "element " + std::to_string(i) + " is " + std::to_string(got) + ", expected " + std::to_string(expected);
}

/// The first integer to which 1 cannot be added. Operands of TF32 are shortened, its sums are not; a variant of 16-bit
/// precision may round parts of a sum to them.
double counts_to(Precision precision) {
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32:
            return 0x1p24;
        case Precision::fp16:
            return 0x1p11;
        case Precision::bf16:
            return 0x1p8;
    }
    return 0;
}

double stored(double value, const Oracle& oracle) {
    if (oracle.index || oracle.dtype == DType::f32) return value;
    const auto narrow = static_cast<float>(value);
    return oracle.dtype == DType::f16 ? to_float(from_float<Float16>(narrow)) : to_float(from_float<BFloat16>(narrow));
}

}  // namespace

std::string wrong_by_tolerance(const Oracle& oracle, const std::vector<std::uint8_t>& result_bytes,
                               Precision precision) {
    const auto result = reference::compare(oracle, result_bytes.data(), precision);
    if (result.pass()) return {};
    const double got = reference::element(result_bytes.data(), result.worst_at, oracle.dtype, oracle.index);
    return sentence(result.worst_at, got, oracle.value[static_cast<std::size_t>(result.worst_at)]) + "; error is " +
           std::to_string(result.worst_ratio) + " times the tolerance";
}

std::string wrong_with_infinities(const Oracle& oracle, const std::vector<std::uint8_t>& result, Precision precision) {
    for (std::int64_t i = 0; i < oracle.size(); ++i) {
        const double expected = oracle.value[static_cast<std::size_t>(i)];
        const double got = reference::element(result.data(), i, oracle.dtype, oracle.index);
        if (std::isnan(expected) && std::isnan(got)) continue;
        if (!within_tolerance(oracle, i, got, precision)) return sentence(i, got, expected);
    }
    return {};
}

std::string wrong_of_integers(const Oracle& oracle, const std::vector<std::uint8_t>& result, Precision precision) {
    const double limit = counts_to(precision);
    for (std::int64_t i = 0; i < oracle.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double got = reference::element(result.data(), i, oracle.dtype, oracle.index);
        if (oracle.scale[at] > limit) {
            if (!within_tolerance(oracle, i, got, precision)) return sentence(i, got, oracle.value[at]);
            continue;
        }
        const double expected = stored(oracle.value[at], oracle);
        if (got != expected) return sentence(i, got, expected) + " exactly";
    }
    return {};
}

}  // namespace gnntune::conformance
