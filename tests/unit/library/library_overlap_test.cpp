// What a run writes shares memory with nothing else: every result of every operation, and the workspace, against every
// array of the run and of its graph. And numbers that an operation does not have are finite all the same.
#include <cstring>

#include "tests/unit/library/library_ops_fixture.hpp"

namespace gnntune {
namespace {

class LibraryOverlap : public LibraryOps {
protected:
    struct Array {
        std::string name;
        void* data;
        std::size_t bytes;
        bool written;
    };

    static Query query_of(const Problem& problem, const CsrGraph& graph) {
        Query query;
        query.problem = problem;
        query.n_rows = graph.n_rows;
        query.n_cols = graph.n_cols;
        query.m = graph.m();
        return query;
    }

    void*& slot(gnntune_operands& operands, const Array& array) const {
        return array.written ? operands.*output_member(array.name)
                             : const_cast<void*&>(operands.*input_member(array.name));
    }

    std::vector<Array> arrays(const Problem& problem, gnntune_operands& operands) const {
        std::vector<Array> all;
        for (const ArraySpec& spec : arrays_of(query_of(problem, square_))) {
            Array array{std::string(spec.name), nullptr, spec.bytes(), !spec.is_input()};
            array.data = slot(operands, array);
            all.push_back(array);
        }
        return all;
    }

    /// The graph as CSR and as COO, with what its arrays are called.
    template <typename F>
    void for_both_graphs(F&& f) {
        gt::Context context = cpu();
        const auto row_idx = expand_rows(square_.view());
        const std::size_t edges = row_idx.size() * sizeof(std::int32_t);
        void* col_idx = square_.col_idx.data();
        f(context,
          context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data()),
          std::vector<Array>{{"row_ptr", square_.row_ptr.data(), square_.row_ptr.size() * sizeof(std::int32_t), false},
                             {"col_idx", col_idx, edges, false}});
        f(context, context.coo(square_.n_rows, square_.n_cols, square_.m(), row_idx.data(), square_.col_idx.data()),
          std::vector<Array>{{"row_idx", const_cast<std::int32_t*>(row_idx.data()), edges, false},
                             {"col_idx", col_idx, edges, false}});
    }

    /// Places at which an array of `bytes` lies with an element or more in the `other` one.
    static std::vector<char*> places_in(const Array& other, std::size_t bytes) {
        auto* begin = static_cast<char*>(other.data);
        return {begin, begin + other.bytes - 4, begin - bytes + 4};
    }
};

TEST_F(LibraryOverlap, ResultsThatShareMemoryAreRefused) {
    int refused = 0;
    for (const auto& both : every_op()) {  // clang captures no part of a pair by its name
        const auto& wanted = both.first;
        const auto& problem = both.second;
        for_both_graphs([&](gt::Context& context, const gt::Graph& graph, const std::vector<Array>& of_graph) {
            const gt::Plan plan = context.plan(graph, wanted);
            HostWorkspace workspace(plan.workspace_bytes());
            Run run = prepare(problem);
            const std::vector<std::vector<float>> untouched = run.results;
            const auto all = arrays(problem, run.operands);
            const auto expect_refused = [&](const Array& moved, char* to, const std::string& words) {
                gnntune_operands operands = run.operands;
                slot(operands, moved) = to;
                ASSERT_EQ(gnntune_run(plan.get(), &operands, workspace.data(), workspace.bytes(), nullptr),
                          GNNTUNE_INVALID_ARGUMENT)
                    << moved.name << ", " << words << ", " << to_text(problem);
                EXPECT_TRUE(contains(gnntune_last_error(), words)) << gnntune_last_error();
                EXPECT_TRUE(contains(gnntune_last_error(), "operands." + moved.name)) << gnntune_last_error();
                ++refused;
            };
            for (const Array& moved : all) {
                for (const Array& other : all) {
                    if (moved.name == other.name || (!moved.written && !other.written)) continue;
                    for (char* to : places_in(other, moved.bytes)) {
                        expect_refused(moved, to, "shares memory with");
                    }
                }
                if (!moved.written) continue;
                for (const Array& other : of_graph) {
                    for (char* to : places_in(other, moved.bytes)) {
                        // What reaches beyond the array may lie in another one too, which is named then.
                        const bool within = to == other.data && moved.bytes <= other.bytes;
                        expect_refused(moved, to,
                                       within ? "shares memory with the graph's " + other.name : "shares memory with");
                    }
                }
            }
            for (std::size_t i = 0; i < untouched.size(); ++i) {
                EXPECT_EQ(std::memcmp(untouched[i].data(), run.results[i].data(), untouched[i].size() * sizeof(float)),
                          0)
                    << "something was written";
            }
        });
    }
    EXPECT_GT(refused, 1000);
}

TEST_F(LibraryOverlap, AWorkspaceThatSharesMemoryIsRefused) {
    int refused = 0;
    for (const auto& both : every_op()) {  // clang captures no part of a pair by its name
        const auto& wanted = both.first;
        const auto& problem = both.second;
        for_both_graphs([&](gt::Context& context, const gt::Graph& graph, const std::vector<Array>&) {
            const gt::Plan plan = context.plan(graph, wanted);
            if (plan.workspace_bytes() == 0) return;
            HostWorkspace workspace(plan.workspace_bytes());
            Run run = prepare(problem);
            const Array space{"workspace", workspace.data(), plan.workspace_bytes(), true};
            for (const Array& moved : arrays(problem, run.operands)) {
                for (char* to : places_in(space, moved.bytes)) {
                    to -= reinterpret_cast<std::uintptr_t>(to) % 4;
                    gnntune_operands operands = run.operands;
                    slot(operands, moved) = to;
                    ASSERT_EQ(gnntune_run(plan.get(), &operands, workspace.data(), workspace.bytes(), nullptr),
                              GNNTUNE_INVALID_ARGUMENT)
                        << moved.name << ", " << to_text(problem);
                    // What reaches beyond the workspace may lie in another array too, which is named then.
                    const bool within = to == space.data && moved.bytes <= space.bytes;
                    EXPECT_TRUE(contains(gnntune_last_error(), within ? "the workspace" : "shares memory with"))
                        << gnntune_last_error();
                    EXPECT_TRUE(contains(gnntune_last_error(), "operands." + moved.name)) << gnntune_last_error();
                    ++refused;
                }
            }
        });
    }
    EXPECT_GT(refused, 50);
}

// Neighbours in one allocation, as an arena hands them out, are no overlap; and inputs may be one array.
TEST_F(LibraryOverlap, ArraysThatTouchAreTaken) {
    for (const auto& both : every_op()) {  // clang captures no part of a pair by its name
        const auto& wanted = both.first;
        const auto& problem = both.second;
        for_both_graphs([&](gt::Context& context, const gt::Graph& graph, const std::vector<Array>&) {
            const gt::Plan plan = context.plan(graph, wanted);
            Run run = prepare(problem);
            auto all = arrays(problem, run.operands);
            std::size_t bytes = (plan.workspace_bytes() + 255) / 256 * 256;
            const std::size_t first = bytes;
            for (const Array& array : all) bytes += (array.bytes + 3) / 4 * 4;
            HostWorkspace arena(bytes);
            auto* at = static_cast<char*>(arena.data()) + first;
            for (Array& array : all) {
                if (!array.written) std::memcpy(at, array.data, array.bytes);
                slot(run.operands, array) = at;
                array.data = at;
                at += (array.bytes + 3) / 4 * 4;
            }
            plan.run(run.operands, arena.data(), plan.workspace_bytes());
            std::size_t result = 0;
            for (const Array& array : all) {
                if (!array.written) continue;
                const auto outcome = reference::compare(run.expected.at(result++), array.data, Precision::fp32);
                EXPECT_TRUE(outcome.pass()) << array.name << " of " << to_text(problem);
            }
        });
    }
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const gt::Plan plan = context.plan(graph, gt::sddmm(4));
    Run run = prepare(problem_of(Op::sddmm, 4));
    run.operands.x_row = run.operands.x;
    HostWorkspace workspace(plan.workspace_bytes());
    plan.run(run.operands, workspace.data(), workspace.bytes());
}

TEST_F(LibraryOverlap, ArraysOfNoElementsShareNothing) {
    gt::Context context = cpu();
    const std::vector<std::int32_t> row_ptr(41);
    const gt::Graph graph = context.csr(40, 40, 0, row_ptr.data(), static_cast<const std::int32_t*>(nullptr));
    const gt::Plan plan = context.plan(graph, gt::csr_to_csc());
    std::vector<std::int32_t> out_ptr(41, -1);
    gt::Operands operands;
    operands.out_ptr = operands.out_idx = operands.out_edge_id = out_ptr.data();
    HostWorkspace workspace(plan.workspace_bytes());
    plan.run(operands, workspace.data(), workspace.bytes());
    EXPECT_EQ(out_ptr, row_ptr);
}

TEST_F(LibraryOverlap, NumbersThatAnOperationDoesNotHaveAreFinite) {
    constexpr std::pair<const char*, float gnntune_operands::*> kNumbers[] = {
        {"scale", &gnntune_operands::scale},
        {"negative_slope", &gnntune_operands::negative_slope},
        {"dropout", &gnntune_operands::dropout}};
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    for (const auto& both : every_op()) {  // clang captures no part of a pair by its name
        const auto& wanted = both.first;
        const auto& problem = both.second;
        const gt::Plan plan = context.plan(graph, wanted);
        HostWorkspace workspace(plan.workspace_bytes());
        Run run = prepare(problem);
        for (const auto& [name, member] : kNumbers) {
            for (const float number : {NAN, INFINITY, -INFINITY}) {
                gnntune_operands operands = run.operands;
                operands.*member = number;
                EXPECT_EQ(failure_of(GNNTUNE_INVALID_ARGUMENT,
                                     [&] { plan.run(operands, workspace.data(), workspace.bytes()); }),
                          std::string("operands.") + name + " is not finite")
                    << to_text(problem);
            }
        }
        plan.run(run.operands, workspace.data(), workspace.bytes());
    }
}

}  // namespace
}  // namespace gnntune
