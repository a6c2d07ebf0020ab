#include "core/ops/coo_to_csr/oracle.hpp"

#include <numeric>

#include "core/reference/grouped.hpp"

namespace gnntune::reference {

std::vector<Oracle> coo_to_csr(const CsrView& csr, const std::int32_t* edge_id) {
    const auto m = static_cast<std::size_t>(csr.m);
    std::vector<std::int32_t> row(m);
    std::vector<std::int32_t> col(m);
    std::vector<std::int32_t> name(m);
    std::iota(name.begin(), name.end(), 0);
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (std::int32_t p = csr.row_ptr[i]; p < csr.row_ptr[i + 1]; ++p) {
            const auto e = static_cast<std::size_t>(edge_id ? edge_id[p] : p);
            row[e] = i;
            col[e] = csr.col_idx[p];
        }
    }
    return grouped(csr.n_rows, row, col, name);
}

}  // namespace gnntune::reference
