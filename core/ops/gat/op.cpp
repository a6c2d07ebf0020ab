// gat: graph attention.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/gat/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_gat {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {of_sources(q, &Operands::x), array(&Operands::score_row, q.n_rows, q.problem.heads, Fill::logits),
            array(&Operands::score_col, q.n_cols, q.problem.heads, Fill::logits), of_targets(q, &Operands::y),
            optional_array(&Operands::lse, q.n_rows, q.problem.heads)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    const double score_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.heads;
    const double lse_bytes = 4.0 * q.problem.heads;
    work.gather_min_bytes += static_cast<double>(gathered_rows) * score_bytes;
    work.gather_max_bytes += static_cast<double>(q.m) * sector_bytes(score_bytes);
    // In order: y, lse and score_row.
    work.out_bytes = static_cast<double>(q.n_rows) * (row_bytes + score_bytes + lse_bytes);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::gat;
    r.meaning = "graph attention layer, forward";
    r.forward = Op::gat;
    r.abi = GNNTUNE_GAT;
    r.numbers = {RunNumber::negative_slope, RunNumber::dropout};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::gat(q.problem, q.csr, q.edge_id, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_gat

const OpRecord& op_record_gat() {
    static const OpRecord kRecord = op_gat::record();
    return kRecord;
}

}  // namespace gnntune
