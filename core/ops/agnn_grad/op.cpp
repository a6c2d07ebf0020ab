// agnn_grad: the gradients of agnn.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/agnn_grad/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_agnn_grad {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {of_sources(q, &Operands::x),
            of_targets(q, &Operands::x_row),
            array(&Operands::beta, q.problem.heads),
            of_targets(q, &Operands::grad_y),
            of_targets(q, &Operands::y_saved, Fill::saved_y),
            array(&Operands::lse_saved, q.n_rows, q.problem.heads, Fill::saved_lse),
            of_sources(q, &Operands::grad_x),
            of_targets(q, &Operands::grad_x_row),
            array(&Operands::grad_beta, q.problem.heads)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    // An edge moves two rows of features: x for the dot products, and what is added to grad_x.
    work.gather_max_bytes *= 2.0;
    work.flops *= 5.0;  // two dot products; sums of x, of x_row and of grad_y
    // In order: x_row, grad_y, y, lse and grad_x_row; grad_x.
    work.out_bytes = static_cast<double>(q.n_rows) * (4.0 * row_bytes + 4.0 * q.problem.heads) +
                     static_cast<double>(q.n_cols) * row_bytes;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::agnn_grad;
    r.meaning = "attention by cosine similarity, backward";
    r.forward = Op::agnn;
    r.abi = GNNTUNE_AGNN_GRAD;
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::agnn_grad(q.problem, q.csr, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_agnn_grad

const OpRecord& op_record_agnn_grad() {
    static const OpRecord kRecord = op_agnn_grad::record();
    return kRecord;
}

}  // namespace gnntune
