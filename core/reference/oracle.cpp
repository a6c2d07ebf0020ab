#include "core/reference/oracle.hpp"

#include <string>

#include "core/common/error.hpp"

namespace gnntune::reference {

namespace {

std::vector<Oracle> oracles_of_op(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                  const Operands& inputs, const SampleRule* rule) {
    switch (problem.op) {
        case Op::spmm:
            return spmm(problem, csr, edge_id, inputs, rule);
        case Op::sddmm:
            return sddmm(problem, csr, edge_id, inputs);
        case Op::agnn:
            return agnn(problem, csr, inputs);
        case Op::agnn_grad:
            return agnn_grad(problem, csr, inputs);
        case Op::attention:
            return attention(problem, csr, edge_id, inputs);
        case Op::attention_grad:
            return attention_grad(problem, csr, edge_id, inputs);
        case Op::edge_softmax:
            return edge_softmax(problem, csr, edge_id, inputs);
        case Op::gat:
            return gat(problem, csr, edge_id, inputs);
        case Op::gat_grad:
            return gat_grad(problem, csr, edge_id, inputs);
        case Op::spmm_grad:
            return spmm_grad(problem, csr, edge_id, inputs);
        case Op::gcn_norm:
            return gcn_norm(problem, csr, edge_id, inputs);
        case Op::coo_to_csr:
            return coo_to_csr(csr, edge_id);
        case Op::csr_to_csc:
            return csr_to_csc(csr, edge_id);
        case Op::sgt:
            return {};  // has no output that arrays_of() lists
        default:
            throw unsupported("there is no oracle for " + std::string(to_text(problem.op)) + " in this build");
    }
}

}  // namespace

std::vector<Oracle> oracles(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                            const Operands& inputs, const SampleRule* rule) {
    // They would read past the ends of what they are given.
    if (const Verdict defined = defined_on(problem, csr.n_rows, csr.n_cols); !defined) {
        throw unsupported("there is no oracle for " + to_text(problem) + ": " + defined.reason);
    }
    std::vector<Oracle> all = oracles_of_op(problem, csr, edge_id, with_seed_read(inputs), rule);
    for (Oracle& oracle : all) {
        if (!oracle.index) oracle.dtype = problem.dtype;  // places are not rounded
    }
    // The second result of attention is lse, fp32 in every problem.
    if (problem.op == Op::gat || problem.op == Op::agnn || problem.op == Op::attention) all[1].dtype = DType::f32;
    return all;
}

}  // namespace gnntune::reference
