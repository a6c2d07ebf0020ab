// Calls of gnntune.h with one thing wrong: the cases of library_nonsense_test.cpp, and how they are made.
#pragma once

#include <cstring>
#include <functional>
#include <limits>

#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {

constexpr auto kInvalid = GNNTUNE_INVALID_ARGUMENT;

struct Case {
    std::string function;
    std::string what;
    gnntune_status expected;
    std::string words;  ///< in the sentence, if the call fails
    std::function<gnntune_status()> call;
};

template <typename T>
const T* shifted(const T* pointer, std::size_t bytes) {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(pointer) + bytes);
}

/// Each add_... takes what is right, changes it, and calls: `change` says what is wrong.
class LibraryNonsense : public LibraryTest {
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        context_ = std::make_unique<gt::Context>(cpu());
        graph_ = std::make_unique<gt::Graph>(graph_in(*context_));
        row_idx_ = expand_rows(csr_.view());
        setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=8}", 1);  // one that needs a workspace
        gt::Context forced = cpu();
        unsetenv("GNNTUNE_FORCE");
        plan_ = std::make_unique<gt::Plan>(forced.plan(graph_in(forced), weighted_spmm()));
        attention_ = std::make_unique<gt::Plan>(context_->plan(*graph_, gt::gat(4, 2)));
        dot_attention_ = std::make_unique<gt::Plan>(context_->plan(*graph_, gt::attention(4, 2)));
        write_file("text.db", "no database at all\n");
    }

    void add(const std::string& function, const std::string& what, gnntune_status expected, const std::string& words,
             std::function<gnntune_status()> call) {
        cases_.push_back({function, what, expected, words, std::move(call)});
    }
    /// A function that returns no status: the call checks what it returns.
    void add(const std::string& function, const std::string& what, const std::function<bool()>& right) {
        cases_.push_back({function, what, GNNTUNE_OK, "", [=] { return right() ? GNNTUNE_OK : GNNTUNE_INTERNAL; }});
    }

    /// Calls `make(&handle)` with a handle that is not null before, and wants it to be null afterwards.
    template <typename Handle>
    static gnntune_status empty_handed(const std::function<gnntune_status(Handle**)>& make) {
        auto* handle = reinterpret_cast<Handle*>(std::uintptr_t{64});
        const gnntune_status status = make(&handle);
        EXPECT_EQ(handle, nullptr);
        return status;
    }

    void add_open(const std::string& what, gnntune_status expected, const std::string& words,
                  const std::function<void(gnntune_open_options&)>& change, std::string path = "") {
        if (path.empty()) path = file().string();
        add("gnntune_open", what, expected, words, [=] {
            gt::OpenOptions options;
            options.backend = GNNTUNE_BACKEND_CPU;
            change(options);
            return empty_handed<gnntune_context>(
                [&](gnntune_context** out) { return gnntune_open(path.c_str(), &options, out); });
        });
    }
    void add_csr(const std::string& what, gnntune_status expected, const std::string& words,
                 const std::function<void(gnntune_csr&)>& change) {
        add("gnntune_graph_create_csr", what, expected, words, [=, this] {
            gt::Csr csr = csr_description();
            change(csr);
            return empty_handed<gnntune_graph>(
                [&](gnntune_graph** out) { return gnntune_graph_create_csr(context_->get(), &csr, nullptr, out); });
        });
    }
    void add_coo(const std::string& what, gnntune_status expected, const std::string& words,
                 const std::function<void(gnntune_coo&)>& change) {
        add("gnntune_graph_create_coo", what, expected, words, [=, this] {
            gt::Coo coo;
            coo.memory = GNNTUNE_HOST;
            coo.n_rows = csr_.n_rows;
            coo.n_cols = csr_.n_cols;
            coo.m = csr_.m();
            coo.row_idx = row_idx_.data();
            coo.col_idx = csr_.col_idx.data();
            change(coo);
            return empty_handed<gnntune_graph>(
                [&](gnntune_graph** out) { return gnntune_graph_create_coo(context_->get(), &coo, nullptr, out); });
        });
    }
    void add_plan(const std::string& what, gnntune_status expected, const std::string& words,
                  const std::function<void(gnntune_problem&)>& change) {
        add("gnntune_plan_create", what, expected, words, [=, this] {
            gnntune_problem problem = gt::spmm(kK).raw();
            change(problem);
            return empty_handed<gnntune_plan>([&](gnntune_plan** out) {
                return gnntune_plan_create(context_->get(), graph_->get(), &problem, nullptr, out);
            });
        });
    }
    struct Workspace {
        const void* data;
        std::size_t bytes;
    };
    /// Of the plan that needs a workspace.
    void add_run(const std::string& what, const std::string& words,
                 const std::function<void(gnntune_operands&, Workspace&)>& change) {
        add("gnntune_run", what, kInvalid, words, [=, this] {
            std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
            HostWorkspace memory(plan_->workspace_bytes());
            Workspace workspace{memory.data(), memory.bytes()};
            gt::Operands operands;
            operands.x = x_.data();
            operands.edge_weight = weight_.data();
            operands.y = y.data();
            change(operands, workspace);
            const gnntune_status status =
                gnntune_run(plan_->get(), &operands, const_cast<void*>(workspace.data), workspace.bytes, nullptr);
            EXPECT_EQ(y, std::vector<float>(y.size(), -7.0F)) << "something was written";
            return status;
        });
    }
    /// Of the plan of gat, whose numbers come with the run.
    void add_attention(const std::string& what, const std::string& words,
                       const std::function<void(gnntune_operands&)>& change) {
        add("gnntune_run", what, kInvalid, words, [=, this] {
            std::vector<float> array(40 * 8);
            gt::Operands operands;
            operands.x = operands.score_row = operands.score_col = array.data();
            operands.y = array.data();
            change(operands);
            return run_with_workspace(*attention_, operands);
        });
    }
    /// The same of attention.
    void add_dot_attention(const std::string& what, const std::string& words,
                           const std::function<void(gnntune_operands&)>& change) {
        add("gnntune_run", what, kInvalid, words, [=, this] {
            std::vector<float> array(40 * 8);
            gt::Operands operands;
            operands.x = operands.x_row = operands.key = array.data();
            operands.y = array.data();
            change(operands);
            return run_with_workspace(*dot_attention_, operands);
        });
    }
    static gnntune_status run_with_workspace(const gt::Plan& plan, const gnntune_operands& operands) {
        HostWorkspace memory(plan.workspace_bytes());
        return gnntune_run(plan.get(), &operands, memory.data(), memory.bytes(), nullptr);
    }

    /// The sizes that every struct may not have: `size` is that of the first header. None makes an initialiser write.
    template <typename T, typename Add>
    void add_sizes(const std::string& name, std::size_t size, gnntune_status (*init)(T*, std::size_t),
                   Add&& add_with_size) {
        const std::string words = "which sets struct_size to sizeof(" + name + ")";
        for (const std::size_t wrong :
             {std::size_t{0}, std::size_t{1}, std::size_t{8}, size / 2, size - 8, size - 4, size - 1, size + 1,
              size + 4, std::size_t{2053}, std::size_t{4097}, std::size_t{4104}, std::size_t{1} << 32,
              std::numeric_limits<std::size_t>::max()}) {
            add_with_size("struct_size " + std::to_string(wrong), words, wrong);
            add(name + "_init", std::to_string(wrong), kInvalid, words, [=] {
                T untouched;
                std::memset(&untouched, '#', sizeof untouched);
                const T before = untouched;
                const gnntune_status status = init(&untouched, wrong);
                EXPECT_EQ(std::memcmp(&untouched, &before, sizeof before), 0) << "something was written";
                return status;
            });
        }
        add(name + "_init", "NULL", kInvalid, name + " is NULL", [=] { return init(nullptr, sizeof(T)); });
    }

    void add_opens();
    void add_graphs();
    void add_plans();
    void add_runs();
    void add_handles();
    void add_head_scores();
    void add_bias();
    void add_edge_list();
    void add_tiled();
    static gt::Tiling tiled_tiling();

    std::unique_ptr<gt::Context> context_;
    std::unique_ptr<gt::Graph> graph_;
    std::unique_ptr<gt::Plan> plan_;
    std::unique_ptr<gt::Plan> attention_;
    std::unique_ptr<gt::Plan> dot_attention_;
    std::unique_ptr<gt::TiledGraph> tiled_;
    std::unique_ptr<gt::TiledPlan> tiled_plan_;
    std::vector<Case> cases_;
};

}  // namespace gnntune
