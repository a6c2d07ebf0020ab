// Error bounds: E of dot_logit.hpp, and row_attention.hpp for what follows from it. As there, they hold for dot
// products and weighted sums in TF32 too, whose operands lose 2^-11 each.
#include "core/ops/attention/oracle.hpp"

#include "core/reference/dot_logit.hpp"

namespace gnntune::reference {

std::vector<Oracle> attention(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                              const Operands& inputs) {
    const std::int64_t k = problem.k;
    const double s = logit_scale(inputs, problem.k);
    const auto logit = [&](std::int64_t row, std::int64_t col) {
        return dot_logit(inputs.x_row + row * k, inputs.key + col * k, problem.k, s);
    };
    return row_attention(problem, csr, inputs.x, logit, KeptEdges(inputs, edge_id));
}

}  // namespace gnntune::reference
