// A small graph with the inputs of an attention op and its gradient: runs their oracles, and central differences of the
// loss sum(grad_y * y), for the tests of those oracles.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "core/ops/inputs.hpp"
#include "core/ops/oracles.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::test {

struct Shape {
    std::int32_t n_rows;
    std::int32_t n_cols;
    std::int32_t k;
    std::int32_t heads;
    EdgeList edges;
};

// An empty row, duplicates, a self loop, more columns than rows.
inline Shape rectangle(std::int32_t k, std::int32_t heads) {
    return {5,
            7,
            k,
            heads,
            {{0, 0},
             {0, 3},
             {0, 5},
             {0, 5},
             {1, 1},
             {2, 3},
             {2, 4},
             {2, 6},
             {4, 6},
             {4, 2},
             {4, 0},
             {4, 0},
             {4, 0},
             {4, 5}}};
}

inline Shape square(std::int32_t k, std::int32_t heads) {
    return {6,
            6,
            k,
            heads,
            {{0, 0},
             {0, 1},
             {0, 4},
             {1, 0},
             {1, 3},
             {2, 2},
             {2, 5},
             {3, 1},
             {3, 1},
             {3, 4},
             {5, 5},
             {5, 3},
             {5, 2},
             {5, 0}}};
}

inline std::vector<Shape> shapes() {
    return {rectangle(4, 1), rectangle(3, 3), square(1, 1), square(5, 3)};
}

class AttentionCase {
public:
    /// `backward` is the gradient op, `numbers` has the numbers of a run, `change` may change what was drawn for an
    /// input.
    AttentionCase(Op backward, const Shape& shape, const Operands& numbers = {},
                  const std::function<void(const ArraySpec&, HostVector<float>&)>& change = {})
        : shape_(shape), graph_(csr_of(shape.n_rows, shape.n_cols, shape.edges)) {
        query_.problem.op = backward;
        query_.problem.k = shape.k;
        query_.problem.heads = shape.heads;
        query_.n_rows = shape.n_rows;
        query_.n_cols = shape.n_cols;
        query_.m = graph_.m();
        std::mt19937_64 random(static_cast<std::uint64_t>(shape.k * 16 + shape.heads));
        const auto draw = [&](const ArraySpec& spec, std::size_t) {
            HostVector<float> values(static_cast<std::size_t>(spec.size()));
            for (float& v : values) v = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1.0) * 1.5F;
            if (change) change(spec, values);
            return values;
        };
        inputs_ = reference::Inputs(query_, graph_.view(), nullptr, draw, numbers);
    }

    const Operands& operands() const { return inputs_.operands(); }
    std::int64_t width() const { return std::int64_t{shape_.k} * shape_.heads; }
    const Shape& shape() const { return shape_; }
    const CsrGraph& graph() const { return graph_; }

    std::vector<reference::Oracle> run(Op op, const Operands& operands) const {
        Problem problem = query_.problem;
        problem.op = op;
        return reference::oracles(problem, graph_.view(), nullptr, operands);
    }

    double loss(const Operands& operands) const {
        const reference::Oracle y = run(forward_of(query_.problem.op), operands)[0];
        double sum = 0;
        for (std::size_t i = 0; i < y.value.size(); ++i) sum += y.value[i] * operands.grad_y[i];
        return sum;
    }

    /// Of the loss, by element `at` of the input `member` of `count` elements.
    double difference(const float* Operands::*member, std::int64_t count, std::int64_t at) const {
        std::vector<float> moved(operands().*member, operands().*member + count);
        Operands there = operands();
        there.*member = moved.data();
        float& value = moved[static_cast<std::size_t>(at)];
        const float middle = value;
        value = middle + 0x1p-9F;
        const double above = value;
        const double up = loss(there);
        value = middle - 0x1p-9F;
        return (up - loss(there)) / (above - value);
    }

private:
    Shape shape_;
    CsrGraph graph_;
    Query query_;
    reference::Inputs inputs_;
};

}  // namespace gnntune::test
