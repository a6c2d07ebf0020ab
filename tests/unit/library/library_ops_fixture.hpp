// Every operation of the C ABI with drawn inputs, results of its own and the oracles of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ops/inputs.hpp"
#include "core/ops/oracles.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {

class LibraryOps : public LibraryTest {
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        square_ = test::csr_of(40, 40, test::random_edges(40, 40, 260, 2, 11));
    }

    /// Inputs of a problem as the library's struct has them, and the oracles of its outputs.
    struct Run {
        reference::Inputs inputs;
        std::vector<reference::Oracle> expected;
        std::vector<ArraySpec> outputs;
        std::vector<std::vector<float>> results;
        gt::Operands operands;
    };

    static bool has_dropout(Op op) { return forward_of(op) == Op::gat || forward_of(op) == Op::attention; }

    Run prepare(const Problem& problem, std::uint64_t seed = 99) {
        Query query;
        query.problem = problem;
        query.n_rows = square_.n_rows;
        query.n_cols = square_.n_cols;
        query.m = square_.m();
        Operands numbers;
        numbers.dropout = has_dropout(problem.op) ? 0.3F : 0.0F;
        numbers.seed = seed;
        numbers.scale = forward_of(problem.op) == Op::attention ? 0.8F : 1.0F;
        Run run;
        run.inputs = reference::Inputs(
            query, square_.view(), nullptr,
            [](const ArraySpec& spec, std::size_t number) {
                const auto drawn =
                    values(static_cast<std::size_t>(spec.size()), static_cast<std::uint32_t>(number) + 5);
                HostVector<float> out(drawn.begin(), drawn.end());
                if (spec.fill == Fill::positive)
                    std::for_each(out.begin(), out.end(), [](float& v) { v = std::abs(v); });
                return out;
            },
            numbers);
        run.expected = reference::oracles(problem, square_.view(), nullptr, run.inputs.operands());
        gnntune_operands& o = run.operands;
        o.dropout = numbers.dropout;
        o.seed = numbers.seed;
        o.scale = *numbers.scale;
        std::size_t number = 0;
        for (const ArraySpec& spec : arrays_of(query)) {
            if (spec.is_input()) {
                o.*input_member(spec.name) = run.inputs.stored(number++);
                continue;
            }
            run.outputs.push_back(spec);
            run.results.emplace_back(static_cast<std::size_t>(spec.size()), std::numeric_limits<float>::quiet_NaN());
            o.*output_member(spec.name) = run.results.back().data();
        }
        return run;
    }

    /// The problems of every op as the C ABI and as the core know them, narrow storage and other reductions among them.
    static std::vector<std::pair<gt::Problem, Problem>> every_op() {
        std::vector<std::pair<gt::Problem, Problem>> all{
            {gt::spmm(5), problem_of(Op::spmm, 5)},
            {gt::spmm(5).weighted().self_loop(), problem_of(Op::spmm, 5, 1, true, true)},
            {gt::spmm_grad(5), problem_of(Op::spmm_grad, 5)},
            {gt::spmm_grad(5).weighted().self_loop(), problem_of(Op::spmm_grad, 5, 1, true, true)},
            {gt::spmm(5).heads(3).weighted().self_loop(), problem_of(Op::spmm, 5, 3, true, true)},
            {gt::spmm_grad(5).heads(3).weighted().self_loop(), problem_of(Op::spmm_grad, 5, 3, true, true)},
            {gt::sddmm(5), problem_of(Op::sddmm, 5)},
            {gt::sddmm(5).weighted(), problem_of(Op::sddmm, 5, 1, true)},
            {gt::edge_softmax(3), problem_of(Op::edge_softmax, 1, 3)},
            {gt::gat(5, 3), problem_of(Op::gat, 5, 3)},
            {gt::gat_grad(5, 3), problem_of(Op::gat_grad, 5, 3)},
            {gt::agnn(6, 2), problem_of(Op::agnn, 6, 2)},
            {gt::agnn_grad(6, 2), problem_of(Op::agnn_grad, 6, 2)},
            {gt::attention(6, 2), problem_of(Op::attention, 6, 2)},
            {gt::attention_grad(6, 2), problem_of(Op::attention_grad, 6, 2)},
            {gt::gcn_norm(), problem_of(Op::gcn_norm, 1)},
            {gt::gcn_norm().weighted(), problem_of(Op::gcn_norm, 1, 1, true)},
            {gt::coo_to_csr(), problem_of(Op::coo_to_csr, 1)},
            {gt::csr_to_csc(), problem_of(Op::csr_to_csc, 1)},
        };
        for (const auto& [word, reduce] :
             {std::pair{GNNTUNE_MEAN, Reduce::mean}, std::pair{GNNTUNE_MAX, Reduce::max}}) {
            Problem problem = problem_of(Op::spmm, 5, 1, true);
            problem.reduce = reduce;
            all.emplace_back(gt::spmm(5).weighted().reduce(word), problem);
            problem.op = Op::spmm_grad;
            all.emplace_back(gt::spmm_grad(5).weighted().reduce(word), problem);
        }
        Problem narrow = problem_of(Op::spmm, 9, 1, true);
        narrow.dtype = DType::f16;
        all.emplace_back(gt::spmm(9).weighted().dtype(GNNTUNE_F16), narrow);
        return all;
    }

    static const void* gnntune_operands::*input_member(std::string_view name) {
        for (const auto& [known, member] : kInputMembers) {
            if (known == name) return member;
        }
        return nullptr;
    }
    static void* gnntune_operands::*output_member(std::string_view name) {
        for (const auto& [known, member] : kOutputMembers) {
            if (known == name) return member;
        }
        return nullptr;
    }

    void expect_right(const gt::Problem& wanted, const Problem& problem) {
        gt::Context context = cpu();
        const gt::Graph graph =
            context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
        const gt::Plan plan = context.plan(graph, wanted);
        Run run = prepare(problem);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(run.operands, workspace.data(), workspace.bytes());
        ASSERT_EQ(run.expected.size(), run.results.size());
        for (std::size_t i = 0; i < run.expected.size(); ++i) {
            const auto result = reference::compare(run.expected[i], run.results[i].data(), Precision::fp32);
            EXPECT_TRUE(result.pass()) << run.outputs[i].name << " of " << to_text(problem) << ": element "
                                       << result.worst_at << ", " << result.worst_ratio << " times the tolerance";
        }
    }

    static Problem problem_of(Op op, std::int32_t k, std::int32_t heads = 1, bool weighted = false,
                              bool self_loop = false) {
        Problem p;
        p.op = op;
        p.k = k;
        p.heads = heads;
        p.weighted = weighted;
        p.self_loop = self_loop;
        return p;
    }

#define GNNTUNE_MEMBER(name) {#name, &gnntune_operands::name},
#define GNNTUNE_OTHER(name)
    static constexpr std::pair<std::string_view, const void * gnntune_operands::*> kInputMembers[] = {
        GNNTUNE_ARRAYS(GNNTUNE_MEMBER, GNNTUNE_MEMBER, GNNTUNE_MEMBER, GNNTUNE_OTHER, GNNTUNE_OTHER, GNNTUNE_OTHER)};
    static constexpr std::pair<std::string_view, void * gnntune_operands::*> kOutputMembers[] = {
        GNNTUNE_ARRAYS(GNNTUNE_OTHER, GNNTUNE_OTHER, GNNTUNE_OTHER, GNNTUNE_MEMBER, GNNTUNE_MEMBER, GNNTUNE_MEMBER)};
#undef GNNTUNE_MEMBER
#undef GNNTUNE_OTHER

    CsrGraph square_;  ///< of every problem; a test may put another one in its place
};

}  // namespace gnntune
