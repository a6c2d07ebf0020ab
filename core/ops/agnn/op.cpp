// agnn: attention by cosines.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/agnn/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_agnn {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    return {of_sources(q, &Operands::x), of_targets(q, &Operands::x_row), array(&Operands::beta, q.problem.heads),
            of_targets(q, &Operands::y), optional_array(&Operands::lse, q.n_rows, q.problem.heads)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    work.flops *= 2.0;  // dot product and sum
    // In order: x_row, y and lse.
    work.out_bytes = static_cast<double>(q.n_rows) * (2.0 * row_bytes + 4.0 * q.problem.heads);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::agnn;
    r.meaning = "attention by cosine similarity, forward";
    r.forward = Op::agnn;
    r.abi = GNNTUNE_AGNN;
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::agnn(q.problem, q.csr, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_agnn

const OpRecord& op_record_agnn() {
    static const OpRecord kRecord = op_agnn::record();
    return kRecord;
}

}  // namespace gnntune
