// edge_softmax: a softmax over the edges of each row.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/edge_softmax/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_edge_softmax {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {array(&Operands::edge_weight, q.m, q.problem.heads, Fill::logits),
            array(&Operands::y, q.m, q.problem.heads)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    Work work = gather_work(q, gathered_rows, feature_row_bytes(q.problem));
    // Columns do not matter; logits are read and results written in order.
    const double values = static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.heads;
    work.a_bytes = 4.0 * (static_cast<double>(q.n_rows) + 1);
    work.gather_min_bytes = work.gather_max_bytes = 0;
    work.out_bytes = 2.0 * values;
    // Maximum, exponential, sum and quotient: four for each value.
    work.flops = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::edge_softmax;
    r.meaning = "softmax over the edges of each row";
    r.forward = Op::edge_softmax;
    r.abi = GNNTUNE_EDGE_SOFTMAX;
    r.normal = {.width = false};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) {
        return reference::edge_softmax(q.problem, q.csr, q.edge_id, q.inputs);
    };
    return r;
}

}  // namespace
}  // namespace op_edge_softmax

const OpRecord& op_record_edge_softmax() {
    static const OpRecord kRecord = op_edge_softmax::record();
    return kRecord;
}

}  // namespace gnntune
