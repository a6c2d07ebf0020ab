// attention: dot-product attention over the edges.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/attention/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_attention {
namespace {

constexpr std::int32_t kGathers = 2;  // keys and values

std::vector<ArraySpec> arrays(const Query& q) {
    return {of_sources(q, &Operands::x), of_targets(q, &Operands::x_row), of_sources(q, &Operands::key),
            of_targets(q, &Operands::y), optional_array(&Operands::lse, q.n_rows, q.problem.heads)};
}

Work work(const Query& q, std::int64_t gathered_rows) {
    const double row_bytes = feature_row_bytes(q.problem);
    Work work = gather_work(q, gathered_rows, row_bytes, kGathers);
    work.flops *= 2.0;  // dot product and sum
    // In order: x_row, y and lse.
    work.out_bytes = static_cast<double>(q.n_rows) * (2.0 * row_bytes + 4.0 * q.problem.heads);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::attention;
    r.meaning = "dot-product attention over the edges (graph transformers), forward";
    r.forward = Op::attention;
    r.abi = GNNTUNE_ATTENTION;
    r.numbers = {RunNumber::scale, RunNumber::dropout};
    r.gathers = kGathers;
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) { return reference::attention(q.problem, q.csr, q.edge_id, q.inputs); };
    return r;
}

}  // namespace
}  // namespace op_attention

const OpRecord& op_record_attention() {
    static const OpRecord kRecord = op_attention::record();
    return kRecord;
}

}  // namespace gnntune
