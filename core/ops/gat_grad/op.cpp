// gat_grad: the gradients of gat.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/gat_grad/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_gat_grad {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {of_sources(q, &Operands::x),
            array(&Operands::score_row, q.n_rows, q.problem.heads, Fill::logits),
            array(&Operands::score_col, q.n_cols, q.problem.heads, Fill::logits),
            of_targets(q, &Operands::grad_y),
            of_targets(q, &Operands::y_saved, Fill::saved_y),
            array(&Operands::lse_saved, q.n_rows, q.problem.heads, Fill::saved_lse),
            of_sources(q, &Operands::grad_x),
            array(&Operands::grad_score_row, q.n_rows, q.problem.heads),
            array(&Operands::grad_score_col, q.n_cols, q.problem.heads)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    const double score_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.heads;
    const double lse_bytes = 4.0 * q.problem.heads;
    // An edge moves two rows of features: x for the scores, and grad_y or grad_x for the features.
    work.gather_max_bytes *= 2.0;
    work.flops *= 2.0;
    work.gather_min_bytes += static_cast<double>(gathered_rows) * score_bytes;
    work.gather_max_bytes += static_cast<double>(q.m) * sector_bytes(score_bytes);
    // In order: grad_y, y, score_row, lse, grad_score_row, and both results of columns.
    work.out_bytes = static_cast<double>(q.n_rows) * (2.0 * row_bytes + 2.0 * score_bytes + lse_bytes) +
                     static_cast<double>(q.n_cols) * (row_bytes + score_bytes);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::gat_grad;
    r.meaning = "graph attention layer, backward";
    r.forward = Op::gat;
    r.abi = GNNTUNE_GAT_GRAD;
    r.numbers = {RunNumber::negative_slope, RunNumber::dropout};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::gat_grad(q.problem, q.csr, q.edge_id, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_gat_grad

const OpRecord& op_record_gat_grad() {
    static const OpRecord kRecord = op_gat_grad::record();
    return kRecord;
}

}  // namespace gnntune
