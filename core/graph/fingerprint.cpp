#include "core/graph/fingerprint.hpp"

#include <charconv>
#include <cstdio>

#include "core/common/team.hpp"
#include "core/graph/fingerprint_mix.hpp"

namespace gnntune {

using namespace fingerprint_detail;

std::string Fingerprint::text() const {
    char buffer[33];
    std::snprintf(buffer, sizeof buffer, "%016llx%016llx", static_cast<unsigned long long>(hi),
                  static_cast<unsigned long long>(lo));
    return buffer;
}

std::optional<Fingerprint> Fingerprint::parse(std::string_view text) {
    Fingerprint f;
    if (text.size() != 32) return std::nullopt;
    const char* p = text.data();
    const auto hi = std::from_chars(p, p + 16, f.hi, 16);
    const auto lo = std::from_chars(p + 16, p + 32, f.lo, 16);
    if (hi.ptr != p + 16 || lo.ptr != p + 32 || hi.ec != std::errc() || lo.ec != std::errc()) return std::nullopt;
    return f;
}

Fingerprint finished(const FingerprintSums& sums, std::int64_t n_rows, std::int64_t n_cols, std::int64_t m) {
    return {finish(sums.hi, n_rows, n_cols, m, kSeedHi), finish(sums.lo, n_rows, n_cols, m, kSeedLo)};
}

Fingerprint fingerprint(const CsrView& csr) {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
    const auto add_row = [&csr](std::int32_t i, std::uint64_t& l, std::uint64_t& h) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            l += edge_term(i, csr.col_idx[e], kSeedLo);
            h += edge_term(i, csr.col_idx[e], kSeedHi);
        }
    };
    if (team_for(csr.m) == 1) {
        for (std::int32_t i = 0; i < csr.n_rows; ++i) add_row(i, lo, hi);
    } else {
#pragma omp parallel for schedule(guided) reduction(+ : lo, hi)
        for (std::int32_t i = 0; i < csr.n_rows; ++i) add_row(i, lo, hi);
    }
    return {finish(hi, csr.n_rows, csr.n_cols, csr.m, kSeedHi), finish(lo, csr.n_rows, csr.n_cols, csr.m, kSeedLo)};
}

Fingerprint fingerprint(const CooView& coo) {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
    const auto add_edge = [&coo](std::int64_t e, std::uint64_t& l, std::uint64_t& h) {
        l += edge_term(coo.row_idx[e], coo.col_idx[e], kSeedLo);
        h += edge_term(coo.row_idx[e], coo.col_idx[e], kSeedHi);
    };
    if (team_for(coo.m) == 1) {
        for (std::int64_t e = 0; e < coo.m; ++e) add_edge(e, lo, hi);
    } else {
#pragma omp parallel for reduction(+ : lo, hi)
        for (std::int64_t e = 0; e < coo.m; ++e) add_edge(e, lo, hi);
    }
    return {finish(hi, coo.n_rows, coo.n_cols, coo.m, kSeedHi), finish(lo, coo.n_rows, coo.n_cols, coo.m, kSeedLo)};
}

}  // namespace gnntune
