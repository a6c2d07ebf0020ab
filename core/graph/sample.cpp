#include "core/graph/sample.hpp"

#include "core/common/team.hpp"

namespace gnntune {

CsrGraph sample(const CsrView& csr, const SampleRule& rule, HostVector<std::int32_t>* position) {
    CsrGraph out;
    out.n_rows = csr.n_rows;
    out.n_cols = csr.n_cols;
    out.row_ptr.resize(static_cast<std::size_t>(csr.n_rows) + 1);
    out.row_ptr[0] = 0;
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        const std::int32_t kept = sampled_count(rule, csr.row_ptr[i + 1] - csr.row_ptr[i]);
        out.row_ptr[static_cast<std::size_t>(i) + 1] = out.row_ptr[static_cast<std::size_t>(i)] + kept;
    }
    const auto m = static_cast<std::size_t>(out.row_ptr[static_cast<std::size_t>(csr.n_rows)]);
    out.col_idx.resize(m);
    position->resize(m);
    team_for_each(csr.n_rows, 256, static_cast<std::int64_t>(m), [&](std::int64_t at) {
        const auto i = static_cast<std::int32_t>(at);
        const std::int32_t begin = csr.row_ptr[i];
        const std::int32_t degree = csr.row_ptr[i + 1] - begin;
        const std::int32_t first = out.row_ptr[static_cast<std::size_t>(i)];
        const RowSample row = sample_row(rule, degree);
        for (std::int32_t s = 0; s < row.count; ++s) {
            const std::int32_t from = begin + row.position(s);
            const auto to = static_cast<std::size_t>(first + s);
            (*position)[to] = from;
            out.col_idx[to] = csr.col_idx[from];
        }
    });
    return out;
}

}  // namespace gnntune
