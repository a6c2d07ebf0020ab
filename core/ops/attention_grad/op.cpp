// attention_grad: the gradients of attention.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/attention_grad/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_attention_grad {
namespace {

constexpr std::int32_t kGathers = 2;  // keys and values

std::vector<ArraySpec> arrays(const Query& q) {
    return {of_sources(q, &Operands::x),
            of_targets(q, &Operands::x_row),
            of_sources(q, &Operands::key),
            of_targets(q, &Operands::grad_y),
            of_targets(q, &Operands::y_saved, Fill::saved_y),
            array(&Operands::lse_saved, q.n_rows, q.problem.heads, Fill::saved_lse),
            of_sources(q, &Operands::grad_x),
            of_targets(q, &Operands::grad_x_row),
            of_sources(q, &Operands::grad_key)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes, kGathers);
    // An edge moves four rows of features: key and x, and what is added to their gradients.
    work.gather_max_bytes *= 2.0;
    work.flops *= 5.0;  // two dot products; sums of key, of x_row and of grad_y
    // In order: x_row, grad_y, y, lse and grad_x_row; grad_x and grad_key.
    work.out_bytes = static_cast<double>(q.n_rows) * (4.0 * row_bytes + 4.0 * q.problem.heads) +
                     static_cast<double>(q.n_cols) * 2.0 * row_bytes;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::attention_grad;
    r.meaning = "dot-product attention over the edges, backward";
    r.forward = Op::attention;
    r.abi = GNNTUNE_ATTENTION_GRAD;
    r.numbers = {RunNumber::scale, RunNumber::dropout};
    r.gathers = kGathers;
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) {
        return reference::attention_grad(q.problem, q.csr, q.edge_id, q.inputs);
    };
    return r;
}

}  // namespace
}  // namespace op_attention_grad

const OpRecord& op_record_attention_grad() {
    static const OpRecord kRecord = op_attention_grad::record();
    return kRecord;
}

}  // namespace gnntune
