#include "core/ops/oracles.hpp"

#include <string>

#include "core/common/error.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune::reference {

std::vector<Oracle> oracles(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                            const Operands& inputs, const SampleRule* rule) {
    // They would read past the ends of what they are given.
    if (const Verdict defined = defined_on(problem, csr.n_rows, csr.n_cols); !defined) {
        throw unsupported("there is no oracle for " + to_text(problem) + ": " + defined.reason);
    }
    const Operands with_seed = with_seed_read(inputs);
    std::vector<Oracle> all = record_of(problem.op).oracle({problem, csr, edge_id, with_seed, rule});
    std::size_t output = 0;
    for (const ArraySpec& spec : arrays_of({problem, csr.n_rows, csr.n_cols, csr.m, nullptr, nullptr})) {
        if (spec.is_input() || output == all.size()) continue;
        Oracle& oracle = all[output++];
        if (!oracle.index) oracle.dtype = spec.dtype;  // places are not rounded
    }
    return all;
}

}  // namespace gnntune::reference
