// sgt: the tiles of TC-GNN, a format of this program alone: no oracle has results to compare, and applications cannot ask for it.
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_sgt {
namespace {

std::vector<ArraySpec> arrays(const Query&) {
    return {};  // nothing that is compared
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes);
    work.out_bytes = static_cast<double>(q.n_rows) * row_bytes;
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::sgt;
    r.meaning = "sparse graph translation: tiles for tensor cores";
    r.forward = Op::sgt;
    r.normal = {.width = false, .heads = false, .storage = false};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question&) { return std::vector<reference::Oracle>(); };
    return r;
}

}  // namespace
}  // namespace op_sgt

const OpRecord& op_record_sgt() {
    static const OpRecord kRecord = op_sgt::record();
    return kRecord;
}

}  // namespace gnntune
