// Gradients of spmm. With t_i = 1 for sums and the number of terms of row i for means, y[i, :] = sum over its terms of
// w x / t_i, so for a loss L with grad_y = dL/dy
//   grad_x[j, f]        = sum over edges e with source j of w_e grad_y[row_e, f] / t_row_e, + self_weight[j] grad_y[j, f] / t_j
//   grad_edge_weight[e] = <grad_y[row_e, :], x[col_e, :]> / t_row_e
//   grad_self_weight[i] = <grad_y[i, :], x[i, :]> / t_i
// and where each head has weights, each head by itself.
// A maximum hands grad_y[i, f] to the edge that argmax_saved[i, f] names and to no other: others have no such term.
// Each is a sum of products, so s is the sum of their magnitudes and d their number: 1 / t is one more rounding, which
// the operand constant covers.
#include "core/ops/spmm_grad/oracle.hpp"

#include <cmath>
#include <vector>

#include "core/common/error.hpp"
#include "core/common/parallel_for.hpp"
#include "core/common/team.hpp"
#include "core/graph/convert.hpp"

namespace gnntune::reference {
namespace {

// out[at] = factor <a, b> over the features that it has
template <typename Has>
void dot(Oracle& out, std::size_t at, double factor, const float* a, const float* b, std::int64_t width,
         const Has& has) {
    double sum = 0;
    double scale = 0;
    for (std::int64_t f = 0; f < width; ++f) {
        if (!has(f)) continue;
        const double term = static_cast<double>(a[f]) * b[f];
        sum += term;
        scale += std::abs(term);
    }
    out.value[at] = factor * sum;
    out.scale[at] = static_cast<float>(factor * scale);
}

Oracle sized(std::int64_t rows, std::int64_t width) {
    Oracle out;
    out.row_width = width;
    out.value.resize(static_cast<std::size_t>(rows * width));
    out.scale.resize(out.value.size());
    out.chain.resize(static_cast<std::size_t>(rows));
    return out;
}

class Gradients {
public:
    Gradients(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id, const Operands& inputs)
        : problem_(problem),
          csr_(csr),
          edge_id_(edge_id),
          in_(inputs),
          width_(std::int64_t{problem.k} * problem.heads),
          heads_(weight_heads(problem)),
          head_width_(width_ / heads_) {
        if (problem.reduce == Reduce::max && problem.self_loop) {
            throw unsupported("there is no oracle for a maximum with self loops");
        }
    }

    Oracle x() const {
        HostVector<std::int32_t> position;  // of the edges of a column in csr_
        const HostVector<std::int32_t> row = expand_rows(csr_);
        const CsrGraph csc = coo_to_csr(
            {csr_.n_cols, csr_.n_rows, csr_.m, csr_.col_idx, row.data(), nullptr, MemorySpace::host}, &position);
        Oracle out = sized(csr_.n_cols, width_);
        struct Sums {
            std::vector<double> sum;
            std::vector<double> scale;
        };
        const auto make = [&] {
            return Sums{std::vector<double>(static_cast<std::size_t>(width_)),
                        std::vector<double>(static_cast<std::size_t>(width_))};
        };
        parallel_for(csr_.n_cols, 64, make, [&](std::int64_t at_column, Sums& sums) {
            const auto j = static_cast<std::int32_t>(at_column);
            std::vector<double>& sum = sums.sum;
            std::vector<double>& scale = sums.scale;
            const auto add = [&](const float* weights, double factor, std::int64_t target, std::int32_t edge) {
                for (std::int64_t f = 0; f < width_; ++f) {
                    const std::int64_t at = target * width_ + f;
                    if (!has(edge, at)) continue;
                    const double term = (weights ? weights[f / head_width_] : 1.0) * factor * in_.grad_y[at];
                    sum[static_cast<std::size_t>(f)] += term;
                    scale[static_cast<std::size_t>(f)] += std::abs(term);
                }
            };
            sum.assign(sum.size(), 0.0);
            scale.assign(scale.size(), 0.0);
            for (std::int32_t c = csc.row_ptr[j]; c < csc.row_ptr[j + 1]; ++c) {
                const std::int32_t edge = id(position[c]);
                const float* weights = problem_.weighted ? in_.edge_weight + std::int64_t{edge} * heads_ : nullptr;
                add(weights, factor(csc.col_idx[c]), csc.col_idx[c], edge);
            }
            if (problem_.self_loop) add(in_.self_weight + std::int64_t{j} * heads_, factor(j), j, -1);
            const auto base = static_cast<std::size_t>(j) * sum.size();
            for (std::size_t f = 0; f < sum.size(); ++f) {
                out.value[base + f] = sum[f];
                out.scale[base + f] = static_cast<float>(scale[f]);
            }
            out.chain[static_cast<std::size_t>(j)] = csc.row_ptr[j + 1] - csc.row_ptr[j] + (problem_.self_loop ? 1 : 0);
        });
        return out;
    }

    Oracle edge_weight() const {
        Oracle out = sized(csr_.m, heads_);
        out.chain.assign(out.chain.size(), static_cast<std::int32_t>(head_width_));
        team_for_each(csr_.n_rows, 64, csr_.m * width_, [&](std::int64_t at) {
            const auto i = static_cast<std::int32_t>(at);
            for (std::int32_t e = csr_.row_ptr[i]; e < csr_.row_ptr[i + 1]; ++e) {
                dots(out, id(e), factor(i), i * width_, csr_.col_idx[e] * width_, id(e));
            }
        });
        return out;
    }

    Oracle self_weight() const {
        Oracle out = sized(csr_.n_rows, heads_);
        out.chain.assign(out.chain.size(), static_cast<std::int32_t>(head_width_));
        for (std::int32_t i = 0; i < csr_.n_rows; ++i) dots(out, i, factor(i), i * width_, i * width_, -1);
        return out;
    }

private:
    // out[at, h] = factor <grad_y, x> of each head, over the elements that reach the edge, from `target` of grad_y and
    // `source` of x on.
    void dots(Oracle& out, std::int64_t at, double factor, std::int64_t target, std::int64_t source,
              std::int32_t edge) const {
        for (std::int64_t h = 0; h < heads_; ++h, target += head_width_, source += head_width_) {
            dot(out, static_cast<std::size_t>(at * heads_ + h), factor, in_.grad_y + target, in_.x + source,
                head_width_, [&](std::int64_t f) { return has(edge, target + f); });
        }
    }

    std::int32_t id(std::int32_t e) const { return edge_id_ ? edge_id_[e] : e; }

    // Whether element `at` of grad_y reaches the edge.
    bool has(std::int32_t edge, std::int64_t at) const {
        return problem_.reduce != Reduce::max || in_.argmax_saved[at] == edge;
    }

    // 1 / t_i. Only asked for rows that have a term.
    double factor(std::int32_t i) const {
        if (problem_.reduce != Reduce::mean) return 1.0;
        return 1.0 / (csr_.row_ptr[i + 1] - csr_.row_ptr[i] + (problem_.self_loop ? 1 : 0));
    }

    const Problem& problem_;
    const CsrView& csr_;
    const std::int32_t* edge_id_;
    const Operands& in_;
    std::int64_t width_;
    std::int64_t heads_;  ///< that have weights
    std::int64_t head_width_;
};

}  // namespace

std::vector<Oracle> spmm_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                              const Operands& inputs) {
    const Gradients gradients(problem, csr, edge_id, inputs);
    std::vector<Oracle> all;
    all.push_back(gradients.x());
    if (problem.weighted) all.push_back(gradients.edge_weight());
    if (problem.self_loop) all.push_back(gradients.self_weight());
    return all;
}

}  // namespace gnntune::reference
