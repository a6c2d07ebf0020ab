// 128-bit identity of a graph's structure: sizes and edges with multiplicity; no values, no types, no order.
//
// Two sums modulo 2^64 of a 64-bit mix of (row, column) under two seeds, mixed at the end with rows, columns and edges.
// A sum does not depend on order, so CSR, COO, CPU and GPU agree without sorting, at memory speed.
// The function is frozen: databases hold its values. tests/unit/core/graph/fingerprint_test.cpp has golden values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/types.hpp"

namespace gnntune {

struct Fingerprint {
    std::uint64_t hi = 0;
    std::uint64_t lo = 0;

    auto operator<=>(const Fingerprint&) const = default;
    /// 32 lower-case hexadecimal digits, `hi` first.
    std::string text() const;
    static std::optional<Fingerprint> parse(std::string_view text);
};

/// Fingerprint of a host graph; OpenMP-parallel.
Fingerprint fingerprint(const CsrView& csr);
Fingerprint fingerprint(const CooView& coo);

}  // namespace gnntune
