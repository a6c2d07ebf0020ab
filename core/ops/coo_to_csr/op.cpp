// coo_to_csr: the list of edges grouped by row.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/coo_to_csr/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_coo_to_csr {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {array(&Operands::out_ptr, q.n_rows + 1), array(&Operands::out_idx, q.m),
            array(&Operands::out_edge_id, q.m)};
}

Work work(const Query& q, std::int64_t) {
    // Read: both ends of every edge. Written: offsets, other ends, positions.
    Work work;
    work.a_bytes = 8.0 * static_cast<double>(q.m);
    work.out_bytes = 8.0 * static_cast<double>(q.m) + 4.0 * (static_cast<double>(q.n_rows) + 1);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::coo_to_csr;
    r.meaning = "conversion of an edge list into rows";
    r.forward = Op::coo_to_csr;
    r.abi = GNNTUNE_COO_TO_CSR;
    r.normal = {.width = false, .heads = false, .storage = false};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::coo_to_csr(q.csr, q.edge_id); };
    return r;
}

}  // namespace
}  // namespace op_coo_to_csr

const OpRecord& op_record_coo_to_csr() {
    static const OpRecord kRecord = op_coo_to_csr::record();
    return kRecord;
}

}  // namespace gnntune
