// Which arrays a 16-bit problem stores in 16 bits: all but lse, in the list of arrays, in what inputs are stored as,
// and in what results are compared as. Which heads have weights of their own.
#include "core/ops/arrays.hpp"

#include <gtest/gtest.h>

#include "core/common/error.hpp"
#include "core/ops/inputs.hpp"
#include "core/ops/oracles.hpp"
#include "tests/unit/common/small_graphs.hpp"

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

TEST(Arrays, HeadsOfWeightedSumsHaveWeightsOfTheirOwn) {
    for (const Op op : {Op::spmm, Op::spmm_grad}) {
        for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::max}) {
            for (const bool weighted : {false, true}) {
                Query q = query_of(op, DType::f32, graph());
                q.problem.reduce = reduce;
                q.problem.weighted = weighted;
                q.problem.self_loop = reduce != Reduce::max;
                const bool own = weighted && reduce != Reduce::max;
                const Problem normal = normalised(q.problem);
                EXPECT_EQ(normal.heads, own ? 2 : 1);
                EXPECT_EQ(normal.k, own ? 5 : 10);
                const auto apart = arrays_of(q);
                q.problem = normal;
                const auto arrays = arrays_of(q);
                ASSERT_EQ(apart.size(), arrays.size());
                for (std::size_t i = 0; i < arrays.size(); ++i) {
                    EXPECT_EQ(arrays[i].name, apart[i].name);
                    EXPECT_EQ(arrays[i].rows, apart[i].rows) << arrays[i].name;
                    EXPECT_EQ(arrays[i].width, apart[i].width) << arrays[i].name;
                    const bool of_edges = arrays[i].name.ends_with("edge_weight");
                    if (!of_edges && !arrays[i].name.ends_with("self_weight")) continue;
                    EXPECT_EQ(arrays[i].rows, of_edges ? q.m : q.n_rows) << arrays[i].name;
                    EXPECT_EQ(arrays[i].width, own ? 2 : 1) << arrays[i].name;
                }
            }
        }
    }
    // The weights of products are those of edges.
    Query q = query_of(Op::sddmm, DType::f32, graph());
    q.problem.weighted = true;
    for (const ArraySpec& spec : arrays_of(q)) {
        EXPECT_TRUE(spec.name != "edge_weight" || spec.width == 1);
    }
}

TEST(Arrays, WhatIsTooWideIsNotFolded) {
    Problem p;
    p.k = 1 << 28;
    p.heads = 16;
    EXPECT_EQ(normalised(p), p);
    EXPECT_THROW(validate(p), Error);
    p.k = 1 << 24;
    EXPECT_EQ(normalised(p).k, 1 << 28);
    EXPECT_NO_THROW(validate(normalised(p)));
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
