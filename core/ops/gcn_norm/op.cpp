// gcn_norm: weights over the roots of degrees.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/gcn_norm/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_gcn_norm {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    std::vector<ArraySpec> all;
    add_weights(q, all, Fill::positive);
    all.push_back(array(&Operands::y, q.m));
    all.push_back(array(&Operands::y_self, q.n_rows));
    return all;
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const auto element = static_cast<double>(size_of(q.problem.dtype));
    const auto m = static_cast<double>(q.m);
    const auto n_rows = static_cast<double>(q.n_rows);
    Work work = gather_work(q, gathered_rows, element);  // an edge gathers a degree
    work.out_bytes = element * (m + n_rows);
    work.flops = (q.problem.weighted ? 3.0 : 1.0) * m + 2.0 * n_rows;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::gcn_norm;
    r.meaning = "symmetric normalisation of the edge weights";
    r.forward = Op::gcn_norm;
    r.abi = GNNTUNE_GCN_NORM;
    r.normal = {.width = false, .heads = false, .weights = true};
    r.square = true;  // it adds self loops
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::gcn_norm(q.problem, q.csr, q.edge_id, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_gcn_norm

const OpRecord& op_record_gcn_norm() {
    static const OpRecord kRecord = op_gcn_norm::record();
    return kRecord;
}

}  // namespace gnntune
