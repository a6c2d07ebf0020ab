// example_degree: weighted in-degrees.
#include "core/include/gnntune/gnntune.h"
#include "core/ops/example_degree/oracle.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace op_example_degree {
namespace {

std::vector<ArraySpec> arrays(const Query& q) {
    std::vector<ArraySpec> all;
    add_weights(q, all);
    all.push_back(array(&Operands::y_self, q.n_rows));
    return all;
}

Work work(const Query& q, std::int64_t) {
    Work work = gather_work(q, 0, 0);
    work.out_bytes = static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.n_rows);
    return work;
}

OpRecord record() {
    OpRecord r;
    r.op = Op::example_degree;
    r.meaning = "sums of the weights of each row";
    r.forward = Op::example_degree;
    r.abi = GNNTUNE_EXAMPLE_DEGREE;
    r.normal = {.width = false, .heads = false, .weights = true};
    r.arrays = &arrays;
    r.work = &work;
    r.oracle = [](const reference::Question& q) {
        return reference::example_degree(q.problem, q.csr, q.edge_id, q.inputs);
    };
    return r;
}

}  // namespace
}  // namespace op_example_degree

const OpRecord& op_record_example_degree() {
    static const OpRecord kRecord = op_example_degree::record();
    return kRecord;
}

}  // namespace gnntune
