// A cosine c is a dot product times two inverse norms. In the unit u of row_attention.hpp the dot product is off by
// u sum|terms|, which is u A after the division, A = sum|terms| / (|x_row| |x|) <= 1; norms are sums of squares, so
// each is off by a relative u / 2 and both move c by u |c|. The logit e = beta c is thus off by u |beta| (A + |c|),
// which is the E of row_attention.hpp (|e| <= |beta| A is in it). The same holds where dot products and the weighted
// sum are taken in TF32 (c = 1e-3 is then the u of either): the operands lose 2^-11 each before they are multiplied,
// which is u A in the cosine and u in the weighted sum; norms and softmax stay in fp32. No second scale is needed for
// such a composition.
#include "core/ops/agnn/oracle.hpp"

#include <cmath>
#include <vector>

#include "core/common/team.hpp"
#include "core/reference/cosine.hpp"
#include "core/reference/row_attention.hpp"

namespace gnntune::reference {

std::vector<Oracle> agnn(const Problem& problem, const CsrView& csr, const Operands& inputs) {
    const std::int64_t k = problem.k;
    const std::int64_t heads = problem.heads;
    const auto inverse_norms = [&](const float* vectors, std::int64_t count) {
        std::vector<double> out(static_cast<std::size_t>(count));
        team_for_each(count, 256, count * k, [&](std::int64_t v) {
            out[static_cast<std::size_t>(v)] = inverse_norm(vectors + v * k, problem.k);
        });
        return out;
    };
    const std::vector<double> inverse_row = inverse_norms(inputs.x_row, csr.n_rows * heads);
    const std::vector<double> inverse_col = inverse_norms(inputs.x, csr.n_cols * heads);
    return row_attention(problem, csr, inputs.x, [&](std::int64_t row, std::int64_t col) {
        const double beta = inputs.beta[row % heads];
        const Cosine c =
            cosine(inputs.x_row + row * k, inputs.x + col * k, problem.k,
                   inverse_row[static_cast<std::size_t>(row)] * inverse_col[static_cast<std::size_t>(col)]);
        return Logit{beta * c.value, std::abs(beta) * (c.terms + std::abs(c.value))};
    });
}

}  // namespace gnntune::reference
