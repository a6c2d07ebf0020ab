// Dropout of gat and attention through the C interface, forward and backward: its seed as a number, and as one in memory
// that is read when the run executes.
#include <sys/mman.h>

#include <optional>

#include "tests/unit/library/library_ops_fixture.hpp"

namespace gnntune {
namespace {

class LibraryDropout : public LibraryOps {
protected:
    void SetUp() override {
        LibraryOps::SetUp();
        context_.emplace(cpu());
        graph_.emplace(
            context_->csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data()));
    }

    static std::vector<std::pair<gt::Problem, Problem>> ops() {
        return {{gt::gat(5, 3), problem_of(Op::gat, 5, 3)},
                {gt::gat_grad(5, 3), problem_of(Op::gat_grad, 5, 3)},
                {gt::attention(6, 2), problem_of(Op::attention, 6, 2)},
                {gt::attention_grad(6, 2), problem_of(Op::attention_grad, 6, 2)}};
    }

    void execute(const gt::Problem& wanted, const gnntune_operands& operands) {
        const gt::Plan plan = context_->plan(*graph_, wanted);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(operands, workspace.data(), workspace.bytes());
    }
    void expect_as_expected(const Run& run, const std::string& what) {
        for (std::size_t i = 0; i < run.expected.size(); ++i) {
            EXPECT_TRUE(reference::compare(run.expected[i], run.results[i].data(), Precision::fp32).pass())
                << run.outputs[i].name << ", " << what;
        }
    }
    std::string refusal(const gt::Problem& wanted, const gnntune_operands& operands) {
        return failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { execute(wanted, operands); });
    }

    std::optional<gt::Context> context_;
    std::optional<gt::Graph> graph_;
};

TEST_F(LibraryDropout, SeedAndOffsetAreOneNumber) {
    for (const auto& [wanted, problem] : ops()) {
        Run run = prepare(problem);
        execute(wanted, run.operands);
        expect_as_expected(run, to_text(problem));
        const auto with_seed = run.results;
        // The sum goes round at 2^64.
        for (const std::uint64_t offset :
             {std::uint64_t{0}, std::uint64_t{98}, std::uint64_t{5} << 61, ~std::uint64_t{0}}) {
            gnntune_operands operands = run.operands;
            operands.seed = 99 - offset;
            operands.seed_offset = &offset;
            execute(wanted, operands);
            EXPECT_EQ(run.results, with_seed) << to_text(problem) << ", offset " << offset;
        }
    }
}

TEST_F(LibraryDropout, TheOffsetIsReadWhenTheRunExecutes) {
    for (const auto& [wanted, problem] : ops()) {
        const gt::Plan plan = context_->plan(*graph_, wanted);
        HostWorkspace workspace(plan.workspace_bytes());
        std::uint64_t offset = 0;
        std::vector<std::vector<float>> first;
        for (; offset < 3; ++offset) {
            Run run = prepare(problem, 99 + offset);  // what a forward run with that seed saved, too
            run.operands.seed = 99;
            run.operands.seed_offset = &offset;
            plan.run(run.operands, workspace.data(), workspace.bytes());
            expect_as_expected(run, to_text(problem) + ", offset " + std::to_string(offset));
            if (offset == 0) first = run.results;
            if (offset > 0) {
                EXPECT_NE(run.results, first) << "the mask of the first run";
            }
        }
    }
}

TEST_F(LibraryDropout, WithoutDropoutNoOffsetIsRead) {
    void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    for (const auto& [wanted, problem] : ops()) {
        Run run = prepare(problem);
        run.operands.dropout = 0;
        execute(wanted, run.operands);
        const auto without = run.results;
        run.operands.seed_offset = static_cast<const std::uint64_t*>(page);
        execute(wanted, run.operands);
        EXPECT_EQ(run.results, without) << to_text(problem);
    }
    munmap(page, 4096);
}

// lse is that of all edges, and so is the sum that their weights are divided by.
TEST_F(LibraryDropout, AttentionDropsAfterItsSoftmax) {
    const Problem problem = problem_of(Op::attention, 6, 2);
    Run run = prepare(problem);
    execute(gt::attention(6, 2), run.operands);
    const auto some = run.results;
    run.operands.dropout = 0;
    execute(gt::attention(6, 2), run.operands);
    EXPECT_NE(run.results[0], some[0]);
    EXPECT_EQ(run.results[1], some[1]) << "lse";
}

TEST_F(LibraryDropout, RunSaysWhatIsWrongWithAnOffset) {
    alignas(8) std::uint64_t words[2] = {};
    const auto* crooked = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(words) + 4);
    for (const auto& [wanted, problem] : every_op()) {
        Run run = prepare(problem);
        run.operands.seed_offset = words;
        if (!has_dropout(problem.op)) {
            const std::string name(to_text(problem.op));
            EXPECT_TRUE(contains(refusal(wanted, run.operands), "operands.seed_offset must be NULL: " + name))
                << to_text(problem);
            continue;
        }
        execute(wanted, run.operands);
        run.operands.seed_offset = crooked;
        EXPECT_EQ(refusal(wanted, run.operands), "operands.seed_offset is not aligned to 8 bytes");
    }
}

TEST_F(LibraryDropout, AnOffsetInsideAResultIsRefused) {
    for (const auto& [wanted, problem] : ops()) {
        Run run = prepare(problem);
        for (std::size_t i = 0; i < run.outputs.size(); ++i) {
            const auto at = (reinterpret_cast<std::uintptr_t>(run.results[i].data()) + 7) / 8 * 8;
            run.operands.seed_offset = reinterpret_cast<const std::uint64_t*>(at);
            EXPECT_TRUE(contains(refusal(wanted, run.operands), "operands." + std::string(run.outputs[i].name) +
                                                                    " shares memory with operands.seed_offset"))
                << gnntune_last_error();
        }
    }
}

}  // namespace
}  // namespace gnntune
