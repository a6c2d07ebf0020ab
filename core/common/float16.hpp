// 16-bit storage of numbers: IEEE 754 binary16 and bfloat16, as bits, with conversions that round to nearest, ties to
// even.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/common/host_device.hpp"

namespace gnntune {

/// binary16: 11 significant bits, finite up to 65504, multiples of 2^-24 below 2^-14.
struct Float16 {
    std::uint16_t bits;
};
/// bfloat16: 8 significant bits, the range of fp32.
struct BFloat16 {
    std::uint16_t bits;
};

namespace float16_detail {

template <typename To, typename From>
GNNTUNE_HOST_DEVICE inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits are taken over one by one");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace float16_detail

GNNTUNE_HOST_DEVICE inline float to_float(float value) {
    return value;
}

GNNTUNE_HOST_DEVICE inline float to_float(BFloat16 value) {
    return float16_detail::bits_as<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

GNNTUNE_HOST_DEVICE inline float to_float(Float16 value) {
    const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
    const std::uint32_t magnitude = value.bits & 0x7fffU;
    // Scaling takes the exponent's bias from 15 to 127, of subnormal numbers too. No branch, so that loops become vectors.
    const float scaled = float16_detail::bits_as<float>(magnitude << 13) * 0x1p112F;
    const std::uint32_t special = magnitude >= 0x7c00U ? 0x7f800000U : 0U;  // infinity and NaN
    return float16_detail::bits_as<float>(float16_detail::bits_as<std::uint32_t>(scaled) | special | sign);
}

template <typename T>
T from_float(float value);

template <>
inline float from_float<float>(float value) {
    return value;
}

template <>
inline BFloat16 from_float<BFloat16>(float value) {
    const auto bits = float16_detail::bits_as<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};  // stays NaN
    return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

template <>
inline Float16 from_float<Float16>(float value) {
    const auto bits = float16_detail::bits_as<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    std::uint32_t half = 0x7c00U;  // infinity
    if (magnitude > 0x7f800000U) {
        half = 0x7e00U;  // NaN
    } else if (magnitude < 0x38800000U) {
        // Below 2^-14: adding 0.5 leaves the multiple of 2^-24 in the last bits, rounded by the addition.
        const float shifted = float16_detail::bits_as<float>(magnitude) + 0.5F;
        half = float16_detail::bits_as<std::uint32_t>(shifted) - float16_detail::bits_as<std::uint32_t>(0.5F);
    } else if (magnitude < 0x477ff000U) {  // 65520 and above round to infinity
        half = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | half)};
}

}  // namespace gnntune
