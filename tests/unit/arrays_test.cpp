// Which arrays a 16-bit problem stores in 16 bits: all but lse, in the list of arrays, in what inputs are stored as,
// and in what results are compared as.
#include "core/registry/arrays.hpp"

#include <gtest/gtest.h>

#include "core/reference/inputs.hpp"
#include "tests/unit/small_graphs.hpp"

namespace gnntune {
namespace {

Query query_of(Op op, DType dtype, const CsrGraph& graph) {
    Query q;
    q.problem.op = op;
    q.problem.k = 5;
    q.problem.heads = 2;
    q.problem.dtype = dtype;
    q.n_rows = graph.n_rows;
    q.n_cols = graph.n_cols;
    q.m = graph.m();
    return q;
}

const CsrGraph& graph() {
    static const CsrGraph kGraph = test::csr_of(20, 20, test::random_edges(20, 20, 90, 1, 3));
    return kGraph;
}

TEST(Arrays, LogSumExpIsFp32InEveryProblem) {
    for (const Op op : {Op::gat, Op::gat_grad, Op::agnn, Op::agnn_grad, Op::attention, Op::attention_grad}) {
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
            int seen = 0;
            for (const ArraySpec& spec : arrays_of(query_of(op, dtype, graph()))) {
                const bool lse = spec.name == "lse" || spec.name == "lse_saved";
                EXPECT_EQ(spec.dtype, lse ? DType::f32 : dtype) << spec.name;
                seen += lse ? 1 : 0;
            }
            EXPECT_EQ(seen, 1) << to_text(op);
        }
    }
}

TEST(Arrays, InputsAreStoredAsTheirArraysAre) {
    const Query q = query_of(Op::gat_grad, DType::f16, graph());
    const reference::Inputs inputs(
        q, graph().view(), nullptr,
        [](const ArraySpec& spec, std::size_t) {
            HostVector<float> values(static_cast<std::size_t>(spec.size()));
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1F * static_cast<float>(i % 37);
            return values;
        },
        Operands{});
    std::size_t number = 0;
    for (const ArraySpec& spec : arrays_of(q)) {
        if (!spec.is_input()) break;
        const float* widened = inputs.operands().*spec.input;
        const void* stored = inputs.stored(number++);
        for (std::int64_t i = 0; i < spec.size(); ++i) {
            EXPECT_EQ(reference::element(stored, i, spec.dtype, false), widened[i]) << spec.name << "[" << i << "]";
        }
    }
    EXPECT_EQ(number, 6U);
}

TEST(Arrays, OraclesHaveTheTypesOfTheArrays) {
    for (const Op op : {Op::gat, Op::agnn, Op::attention}) {
        const Query q = query_of(op, DType::bf16, graph());
        const reference::Inputs inputs(
            q, graph().view(), nullptr,
            [](const ArraySpec& spec, std::size_t) {
                return HostVector<float>(static_cast<std::size_t>(spec.size()), 0.5F);
            },
            Operands{});
        const auto oracles = reference::oracles(q.problem, graph().view(), nullptr, inputs.operands());
        std::size_t number = 0;
        for (const ArraySpec& spec : arrays_of(q)) {
            if (spec.is_input()) continue;
            EXPECT_EQ(oracles.at(number++).dtype, spec.dtype) << spec.name;
        }
        EXPECT_EQ(number, oracles.size());
    }
}

}  // namespace
}  // namespace gnntune
