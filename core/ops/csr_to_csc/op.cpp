// csr_to_csc: the edges grouped by column.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/csr_to_csc/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_csr_to_csc {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {array(&Operands::out_ptr, q.n_cols + 1), array(&Operands::out_idx, q.m),
            array(&Operands::out_edge_id, q.m)};
}

Work work(const Query& q, std::int64_t) {
    // Read: the CSR arrays. Written: offsets, other ends, positions.
    Work work;
    work.a_bytes = 4.0 * (static_cast<double>(q.m) + static_cast<double>(q.n_rows) + 1);
    work.out_bytes = 8.0 * static_cast<double>(q.m) + 4.0 * (static_cast<double>(q.n_cols) + 1);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::csr_to_csc;
    r.meaning = "conversion of rows into columns (transposition)";
    r.forward = Op::csr_to_csc;
    r.abi = GNNTUNE_CSR_TO_CSC;
    r.normal = {.width = false, .heads = false, .storage = false};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::csr_to_csc(q.csr, q.edge_id); };
    return r;
}

}  // namespace
}  // namespace op_csr_to_csc

const OpRecord& op_record_csr_to_csc() {
    static const OpRecord kRecord = op_csr_to_csc::record();
    return kRecord;
}

}  // namespace gnntune
