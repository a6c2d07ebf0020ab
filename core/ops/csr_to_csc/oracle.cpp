#include "core/ops/csr_to_csc/oracle.hpp"

#include <numeric>

#include "core/reference/grouped.hpp"

namespace gnntune::reference {

std::vector<Oracle> csr_to_csc(const CsrView& csr, const std::int32_t* edge_id) {
    std::vector<std::int32_t> row;
    std::vector<std::int32_t> name;
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (std::int32_t p = csr.row_ptr[i]; p < csr.row_ptr[i + 1]; ++p) {
            row.push_back(i);
            name.push_back(edge_id ? edge_id[p] : p);
        }
    }
    return grouped(csr.n_cols, {csr.col_idx, csr.col_idx + csr.m}, row, name);
}

}  // namespace gnntune::reference
