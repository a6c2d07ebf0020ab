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

/// The two sums over some of a graph's edges, modulo 2^64: those over the parts of a graph add up to those of the whole.
struct FingerprintSums {
    std::uint64_t hi = 0;
    std::uint64_t lo = 0;

    FingerprintSums& operator+=(const FingerprintSums& other) {
        hi += other.hi;
        lo += other.lo;
        return *this;
    }
};
/// The fingerprint of a graph of these sizes with these sums over all of its edges.
Fingerprint finished(const FingerprintSums& sums, std::int64_t n_rows, std::int64_t n_cols, std::int64_t m);

/// Fingerprint of a host graph; OpenMP-parallel.
Fingerprint fingerprint(const CsrView& csr);
Fingerprint fingerprint(const CooView& coo);

}  // namespace gnntune
