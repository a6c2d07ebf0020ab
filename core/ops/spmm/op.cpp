// spmm: sums, means and maxima of the sources of each row.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/op_record.hpp"
#include "core/ops/spmm/oracle.hpp"

namespace gnntune {
namespace op_spmm {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    std::vector<ArraySpec> all{of_sources(q, &Operands::x)};
    add_weights(q, all);
    all.push_back(of_targets(q, &Operands::y));
    if (q.problem.reduce == Reduce::max) {
        all.push_back(optional_array(&Operands::argmax, q.n_rows, std::int64_t{q.problem.k} * q.problem.heads));
    }
    return all;
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    // What won is an int32 for each element of a result row.
    const std::int64_t argmax_bytes =
        q.problem.reduce == Reduce::max ? std::int64_t{4} * q.problem.k * q.problem.heads : 0;
    work.out_bytes = static_cast<double>(q.n_rows) * (row_bytes + static_cast<double>(argmax_bytes));
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::spmm;
    r.meaning = "Y = A X: sum of the neighbours' features";
    r.forward = Op::spmm;
    r.abi = GNNTUNE_SPMM;
    r.normal = {.weights = true, .reduces = true};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) {
        return reference::spmm(q.problem, q.csr, q.edge_id, q.inputs, q.rule);
    };
    return r;
}

}  // namespace
}  // namespace op_spmm

const OpRecord& op_record_spmm() {
    static const OpRecord kRecord = op_spmm::record();
    return kRecord;
}

}  // namespace gnntune
