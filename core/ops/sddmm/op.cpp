// sddmm: a product for every edge.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/op_record.hpp"
#include "core/ops/sddmm/oracle.hpp"

namespace gnntune {
namespace op_sddmm {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    std::vector<ArraySpec> all{of_sources(q, &Operands::x), of_targets(q, &Operands::x_row)};
    add_weights(q, all);
    all.push_back(array(&Operands::y, q.m, q.problem.heads));
    return all;
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    const double values = static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.heads;
    work.out_bytes = static_cast<double>(q.n_rows) * row_bytes + values;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::sddmm;
    r.meaning = "a score for every edge: inner product of its two vertices' features";
    r.forward = Op::sddmm;
    r.abi = GNNTUNE_SDDMM;
    r.normal = {.weights = true};
    r.numbers = {RunNumber::scale, RunNumber::negative_slope, RunNumber::activation};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::sddmm(q.problem, q.csr, q.edge_id, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_sddmm

const OpRecord& op_record_sddmm() {
    static const OpRecord kRecord = op_sddmm::record();
    return kRecord;
}

}  // namespace gnntune
