// spmm_grad: the gradients of spmm.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/op_record.hpp"
#include "core/ops/spmm_grad/oracle.hpp"

namespace gnntune {
namespace op_spmm_grad {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    const std::int64_t of_edge = weight_heads(q.problem);
    std::vector<ArraySpec> all{of_sources(q, &Operands::x), of_targets(q, &Operands::grad_y)};
    add_weights(q, all);
    if (q.problem.reduce == Reduce::max) all.push_back(of_targets(q, &Operands::argmax_saved, Fill::saved_argmax));
    all.push_back(of_sources(q, &Operands::grad_x));
    if (q.problem.weighted) all.push_back(array(&Operands::grad_edge_weight, q.m, of_edge));
    if (q.problem.self_loop) all.push_back(array(&Operands::grad_self_weight, q.n_rows, of_edge));
    return all;
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    const Problem& p = q.problem;
    const auto m = static_cast<double>(q.m);
    const auto n_rows = static_cast<double>(q.n_rows);
    const auto n_cols = static_cast<double>(q.n_cols);
    const double loops = p.self_loop ? n_rows : 0.0;
    const double weight = edge_weight_bytes(p);
    // Grouped by column. A gradient of weights takes the column's row of x, and as many flops again.
    work.a_bytes += 4.0 * (n_cols - n_rows);
    work.out_bytes = n_cols * row_bytes + (p.weighted ? weight * m : 0.0) + weight * loops;
    if (p.weighted || p.self_loop) work.out_bytes += n_cols * row_bytes;
    // What won is an int32 for each element of a row of grad_y, gathered with it.
    const std::int64_t argmax_bytes = p.reduce == Reduce::max ? std::int64_t{4} * p.k * p.heads : 0;
    work.gather_min_bytes += static_cast<double>(gathered_rows * argmax_bytes);
    work.gather_max_bytes += m * sector_bytes(static_cast<double>(argmax_bytes));
    work.flops += 2.0 * ((p.weighted ? m : 0.0) + loops) * p.k * p.heads;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::spmm_grad;
    r.meaning = "gradients of spmm with respect to X and the edge weights";
    r.forward = Op::spmm;
    r.abi = GNNTUNE_SPMM_GRAD;
    r.normal = {.weights = true, .reduces = true};
    r.gathers_targets = true;  // a row of grad_y
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::spmm_grad(q.problem, q.csr, q.edge_id, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_spmm_grad

const OpRecord& op_record_spmm_grad() {
    static const OpRecord kRecord = op_spmm_grad::record();
    return kRecord;
}

}  // namespace gnntune
