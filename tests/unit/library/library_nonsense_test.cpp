// Every function of gnntune.h with every kind of nonsense: a status and a sentence that names what is wrong come out,
// and nothing is made. What cannot be told from sense (a wrong address, arrays shorter than their sizes) is not here.
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include "core/registry/operands.hpp"
#include "tests/unit/library/library_nonsense.hpp"

namespace gnntune {
namespace {

constexpr std::int32_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kInt32Min = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

void LibraryNonsense::add_opens() {
    add("gnntune_open", "out is NULL", kInvalid, "out is NULL", [] { return gnntune_open(nullptr, nullptr, nullptr); });
    add_sizes("gnntune_open_options", 64, gnntune_open_options_init,
              [&](const auto& what, const auto& words, auto size) {
                  add_open(what, kInvalid, words, [=](auto& o) { o.struct_size = size; });
              });
    for (const std::int32_t word : {-1, 4, kInt32Max, kInt32Min}) {
        add_open("backend", kInvalid, "options.backend is " + std::to_string(word), [=](auto& o) { o.backend = word; });
        add_open("sources", kInvalid, "options.sources is " + std::to_string(word), [=](auto& o) { o.sources = word; });
    }
    for (const std::int32_t device : {-2, 1000, kInt32Max, kInt32Min}) {
        add_open("device", GNNTUNE_NO_DEVICE, "", [=](auto& o) {
            o.backend = GNNTUNE_BACKEND_CUDA;
            o.device = device;
        });
    }
    for (const std::int64_t budget : {std::int64_t{0}, std::int64_t{-2}, kInt64Min}) {
        add_open("tune_budget_us", kInvalid, "options.tune_budget_us is " + std::to_string(budget),
                 [=](auto& o) { o.tune_budget_us = budget; });
    }
    const auto demanded = [](auto& o) { o.require_database = 1; };
    add_open("a missing database", GNNTUNE_DATABASE, "no such database", demanded, file("none.db").string());
    add_open("a folder as a database", GNNTUNE_DATABASE, "found a folder", demanded, folder_.string());
    add_open("a text as a database", GNNTUNE_DATABASE, "found a text file", demanded, file("text.db").string());
    add_open("a name that is too long", GNNTUNE_DATABASE, "cannot be reached", demanded, std::string(5000, 'x'));
}

void LibraryNonsense::add_graphs() {
    const gt::Csr csr;
    const gt::Coo coo;
    gnntune_context* context = context_->get();
    const auto made = [](auto&& make) { return [=] { return empty_handed<gnntune_graph>(make); }; };
    add("gnntune_graph_create_csr", "context is NULL", kInvalid, "context is NULL",
        made([=](gnntune_graph** out) { return gnntune_graph_create_csr(nullptr, &csr, nullptr, out); }));
    add("gnntune_graph_create_csr", "csr is NULL", kInvalid, "gnntune_csr is NULL",
        made([=](gnntune_graph** out) { return gnntune_graph_create_csr(context, nullptr, nullptr, out); }));
    add("gnntune_graph_create_csr", "out is NULL", kInvalid, "out is NULL",
        [=] { return gnntune_graph_create_csr(context, &csr, nullptr, nullptr); });
    add("gnntune_graph_create_coo", "context is NULL", kInvalid, "context is NULL",
        made([=](gnntune_graph** out) { return gnntune_graph_create_coo(nullptr, &coo, nullptr, out); }));
    add("gnntune_graph_create_coo", "coo is NULL", kInvalid, "gnntune_coo is NULL",
        made([=](gnntune_graph** out) { return gnntune_graph_create_coo(context, nullptr, nullptr, out); }));
    add("gnntune_graph_create_coo", "out is NULL", kInvalid, "out is NULL",
        [=] { return gnntune_graph_create_coo(context, &coo, nullptr, nullptr); });

    const auto both = [&](const std::string& what, gnntune_status expected, const std::string& words, auto change) {
        add_csr(what, expected, words, change);
        add_coo(what, expected, words, change);
    };
    add_sizes("gnntune_csr", 72, gnntune_csr_init, [&](const auto& what, const auto& words, auto size) {
        add_csr(what, kInvalid, words, [=](auto& g) { g.struct_size = size; });
    });
    add_sizes("gnntune_coo", 64, gnntune_coo_init, [&](const auto& what, const auto& words, auto size) {
        add_coo(what, kInvalid, words, [=](auto& g) { g.struct_size = size; });
    });
    for (const std::int32_t word : {-1, 3, kInt32Max, kInt32Min}) {
        both("memory", kInvalid, "memory is " + std::to_string(word), [=](auto& g) { g.memory = word; });
        both("id_type", kInvalid, "id_type is " + std::to_string(word), [=](auto& g) { g.id_type = word; });
        add_csr("offset_type", kInvalid, "offset_type is " + std::to_string(word),
                [=](auto& g) { g.offset_type = word; });
    }
    both("memory 0", kInvalid, "GNNTUNE_HOST or GNNTUNE_DEVICE", [](auto& g) { g.memory = 0; });
    both("device arrays", kInvalid, "needs host arrays", [](auto& g) { g.memory = GNNTUNE_DEVICE; });
    for (const std::int64_t size : {std::int64_t{-1}, kInt64Min}) {
        both("n_rows", kInvalid, "n_rows=" + std::to_string(size), [=](auto& g) { g.n_rows = size; });
        both("n_cols", kInvalid, "n_cols=" + std::to_string(size), [=](auto& g) { g.n_cols = size; });
        both("m", kInvalid, "m=" + std::to_string(size), [=](auto& g) { g.m = size; });
    }
    for (const std::int64_t size : {std::int64_t{1} << 31, kInt64Max}) {
        both("n_rows", GNNTUNE_UNSUPPORTED, std::to_string(size), [=](auto& g) { g.n_rows = size; });
        both("n_cols", GNNTUNE_UNSUPPORTED, std::to_string(size), [=](auto& g) { g.n_cols = size; });
        both("m", GNNTUNE_UNSUPPORTED, std::to_string(size), [=](auto& g) { g.m = size; });
    }
    both("col_idx is NULL", kInvalid, "col_idx is NULL; expected 200", [](auto& g) { g.col_idx = nullptr; });
    add_csr("row_ptr is NULL", kInvalid, "row_ptr is NULL; expected 41", [](auto& g) { g.row_ptr = nullptr; });
    add_csr("no rows, no offset", kInvalid, "row_ptr is NULL; expected 1", [](auto& g) {
        g.n_rows = g.n_cols = g.m = 0;
        g.row_ptr = g.col_idx = nullptr;
    });
    add_coo("row_idx is NULL", kInvalid, "row_idx is NULL; expected 200", [](auto& g) { g.row_idx = nullptr; });
    for (const std::size_t bytes : {1U, 2U, 3U}) {
        both("col_idx lies crooked", kInvalid, "col_idx is not aligned",
             [=](auto& g) { g.col_idx = shifted(g.col_idx, bytes); });
        add_csr("row_ptr lies crooked", kInvalid, "row_ptr is not aligned",
                [=](auto& g) { g.row_ptr = shifted(g.row_ptr, bytes); });
        add_coo("row_idx lies crooked", kInvalid, "row_idx is not aligned",
                [=](auto& g) { g.row_idx = shifted(g.row_idx, bytes); });
    }
    both("fewer columns than ids", GNNTUNE_INVALID_GRAPH, "expected", [](auto& g) { g.n_cols = 1; });
    both("no columns", GNNTUNE_INVALID_GRAPH, "expected", [](auto& g) { g.n_cols = 0; });
    // 200 edges in 40 rows.
    for (const std::int32_t longest : {-2, 0, 4, 201, kInt32Max, kInt32Min}) {
        add_csr("longest_row", kInvalid, "longest_row is " + std::to_string(longest) + ", which no graph of 40 rows",
                [=](auto& g) { g.longest_row = longest; });
    }
    add_csr("fewer edges than offsets say", GNNTUNE_INVALID_GRAPH, "row_ptr", [](auto& g) { g.m = 100; });
    add_csr("fewer rows than offsets", GNNTUNE_INVALID_GRAPH, "row_ptr", [](auto& g) { g.n_rows = 3; });
    add_coo("fewer rows than ids", GNNTUNE_INVALID_GRAPH, "expected ids below 1 and 30", [](auto& g) { g.n_rows = 1; });
}

void LibraryNonsense::add_plans() {
    gnntune_context* context = context_->get();
    gnntune_graph* graph = graph_->get();
    const gnntune_problem problem = gt::spmm(kK).raw();
    const auto made = [](auto&& make) { return [=] { return empty_handed<gnntune_plan>(make); }; };
    add("gnntune_plan_create", "context is NULL", kInvalid, "context is NULL",
        made([=](gnntune_plan** out) { return gnntune_plan_create(nullptr, graph, &problem, nullptr, out); }));
    add("gnntune_plan_create", "graph is NULL", kInvalid, "graph is NULL",
        made([=](gnntune_plan** out) { return gnntune_plan_create(context, nullptr, &problem, nullptr, out); }));
    add("gnntune_plan_create", "problem is NULL", kInvalid, "gnntune_problem is NULL",
        made([=](gnntune_plan** out) { return gnntune_plan_create(context, graph, nullptr, nullptr, out); }));
    add("gnntune_plan_create", "out is NULL", kInvalid, "out is NULL",
        [=] { return gnntune_plan_create(context, graph, &problem, nullptr, nullptr); });
    add("gnntune_plan_create", "a graph of another context", kInvalid, "another context", [=, this] {
        gt::Context other = cpu();
        return empty_handed<gnntune_plan>(
            [&](gnntune_plan** out) { return gnntune_plan_create(other.get(), graph, &problem, nullptr, out); });
    });

    add_sizes("gnntune_problem", 80, gnntune_problem_init, [&](const auto& what, const auto& words, auto size) {
        add_plan(what, kInvalid, words, [=](auto& p) { p.struct_size = size; });
    });
    for (const std::int32_t word : {-1, 14, kInt32Max, kInt32Min}) {
        const std::string is = " is " + std::to_string(word);
        add_plan("op", kInvalid, "problem.op" + is, [=](auto& p) { p.op = word; });
        add_plan("dtype", kInvalid, "problem.dtype" + is, [=](auto& p) { p.dtype = word; });
        add_plan("reduce", kInvalid, "problem.reduce" + is, [=](auto& p) { p.reduce = word; });
        add_plan("direction", kInvalid, "problem.direction" + is, [=](auto& p) { p.direction = word; });
        add_plan("policy", kInvalid, "problem.policy" + is, [=](auto& p) { p.policy = word; });
    }
    for (const std::int32_t k : {0, -1, kInt32Min}) {
        add_plan("k", kInvalid, "k is " + std::to_string(k), [=](auto& p) { p.k = k; });
    }
    add_plan("k times heads", GNNTUNE_UNSUPPORTED, "is more than the 268435456 elements", [](auto& p) {
        p.k = kInt32Max;
        p.heads = kInt32Max;
    });
    for (const std::int32_t heads : {0, -1, kInt32Min}) {
        add_plan("heads", kInvalid, "heads is " + std::to_string(heads), [=](auto& p) { p.heads = heads; });
    }
    for (const std::int32_t bytes : {-4, 0, 3, 5, 24, kInt32Max, kInt32Min}) {
        add_plan("operand_alignment", kInvalid, "problem.operand_alignment is " + std::to_string(bytes),
                 [=](auto& p) { p.operand_alignment = bytes; });
    }
    for (const double number : {kNan, kInf, -kInf, -1.0}) {
        add_plan("max_error", kInvalid, "problem.max_error is", [=](auto& p) { p.max_error = number; });
        add_plan("expected_calls", kInvalid, "problem.expected_calls is", [=](auto& p) { p.expected_calls = number; });
    }
    add_plan("no calls", kInvalid, "problem.expected_calls is 0", [](auto& p) { p.expected_calls = 0; });
    add_plan("self loops of a graph that is not square", GNNTUNE_UNSUPPORTED, "self loops need a square graph",
             [](auto& p) { p.self_loop = 1; });
    add_plan("self loops of an op without", kInvalid, "problem.self_loop is set", [](auto& p) {
        p.op = GNNTUNE_SDDMM;
        p.self_loop = 1;
    });
    add_plan("weights of an op without", kInvalid, "problem.weighted is set", [](auto& p) {
        p.op = GNNTUNE_GAT;
        p.weighted = 1;
    });
    add_plan("self loops of a maximum", kInvalid, "self loops", [](auto& p) {
        p.reduce = GNNTUNE_MAX;
        p.self_loop = 1;
    });
    add_plan("a reduction of an op without", kInvalid, "problem.reduce is set", [](auto& p) {
        p.op = GNNTUNE_GAT;
        p.reduce = GNNTUNE_MAX;
    });
}

void LibraryNonsense::add_runs() {
    add("gnntune_run", "plan is NULL", kInvalid, "plan is NULL", [] {
        const gt::Operands operands;
        return gnntune_run(nullptr, &operands, nullptr, 0, nullptr);
    });
    add("gnntune_run", "operands is NULL", kInvalid, "gnntune_operands is NULL",
        [this] { return gnntune_run(plan_->get(), nullptr, nullptr, 0, nullptr); });
    add_sizes("gnntune_operands", 256, gnntune_operands_init, [&](const auto& what, const auto& words, auto size) {
        add_run(what, words, [=](auto& o, auto&) { o.struct_size = size; });
    });
    add_run("x", "operands.x is NULL", [](auto& o, auto&) { o.x = nullptr; });
    add_run("edge_weight", "operands.edge_weight is NULL", [](auto& o, auto&) { o.edge_weight = nullptr; });
    add_run("y", "operands.y is NULL", [](auto& o, auto&) { o.y = nullptr; });
    for (const std::size_t bytes : {1U, 2U, 3U}) {
        add_run("x lies crooked", "operands.x is not aligned", [=](auto& o, auto&) { o.x = shifted(o.x, bytes); });
        add_run("y lies crooked", "operands.y is not aligned",
                [=](auto& o, auto&) { o.y = const_cast<void*>(shifted<void>(o.y, bytes)); });
        add_run("edge_weight lies crooked", "operands.edge_weight is not aligned",
                [=](auto& o, auto&) { o.edge_weight = shifted(o.edge_weight, bytes); });
    }
    // Arrays that spmm without self loops does not have.
    const std::set<std::string_view> of_spmm{"x", "edge_weight", "y"};
    const auto add_foreign = [&](const std::string& name, auto member) {
        if (of_spmm.contains(name)) return;
        add_run(name + " of another op", "operands." + name + " must be NULL",
                [member](auto& o, auto&) { o.*member = o.y; });
    };
#define GNNTUNE_ARRAY(name) add_foreign(#name, &gnntune_operands::name);
    GNNTUNE_EVERY_ARRAY(GNNTUNE_ARRAY)
#undef GNNTUNE_ARRAY
    add_run("no workspace", "workspace is NULL", [](auto&, auto& w) { w.data = nullptr; });
    add_run("a workspace that is too small", "the workspace has", [](auto&, auto& w) { --w.bytes; });
    add_run("a workspace of nothing", "the workspace has 0 bytes", [](auto&, auto& w) { w.bytes = 0; });
    for (const std::size_t bytes : {1U, 4U, 16U, 128U}) {
        add_run("a workspace that lies crooked", "the workspace is not aligned",
                [=](auto&, auto& w) { w.data = shifted<void>(w.data, bytes); });
    }
    add_run("seed_offset of another op", "operands.seed_offset must be NULL",
            [](auto& o, auto&) { o.seed_offset = static_cast<const std::uint64_t*>(o.x); });
    add_attention("seed_offset lies crooked", "operands.seed_offset is not aligned",
                  [](auto& o) { o.seed_offset = reinterpret_cast<const std::uint64_t*>(std::uintptr_t{4}); });
    for (const float number : {-0.1F, 1.0F, 2.0F, static_cast<float>(kNan), static_cast<float>(kInf)}) {
        add_attention("dropout", "operands.dropout is", [=](auto& o) { o.dropout = number; });
    }
    for (const std::int32_t word : {-1, 0, 4, kInt32Max, kInt32Min}) {
        add_run("activation", "operands.activation is " + std::to_string(word),
                [=](auto& o, auto&) { o.activation = word; });
    }
    for (const gnntune_activation word : {GNNTUNE_LEAKY_RELU, GNNTUNE_EXP}) {
        add_run("activation of another op", "operands.activation must be GNNTUNE_NO_ACTIVATION",
                [=](auto& o, auto&) { o.activation = word; });
    }
    for (const double number : {kNan, kInf, -kInf}) {
        add_attention("negative_slope", "operands.negative_slope is not finite",
                      [=](auto& o) { o.negative_slope = static_cast<float>(number); });
        add_dot_attention("scale", "operands.scale is not finite",
                          [=](auto& o) { o.scale = static_cast<float>(number); });
    }
}

void LibraryNonsense::add_handles() {
    add("gnntune_close", "NULL", [] { return gnntune_close(nullptr), true; });
    add("gnntune_graph_destroy", "NULL", [] { return gnntune_graph_destroy(nullptr), true; });
    add("gnntune_plan_destroy", "NULL", [] { return gnntune_plan_destroy(nullptr), true; });
    add("gnntune_context_backend", "NULL", [] { return gnntune_context_backend(nullptr) == GNNTUNE_BACKEND_AUTO; });
    add("gnntune_context_device", "NULL", [] { return gnntune_context_device(nullptr) == -1; });
    add("gnntune_context_device", "of the cpu", [this] { return gnntune_context_device(context_->get()) == -1; });
    add("gnntune_plan_workspace_bytes", "NULL", [] { return gnntune_plan_workspace_bytes(nullptr) == 0; });
    add("gnntune_plan_prepare_us", "NULL", [] { return gnntune_plan_prepare_us(nullptr) == 0; });
    add("gnntune_plan_format_bytes", "NULL", [] { return gnntune_plan_format_bytes(nullptr) == 0; });
    add("gnntune_plan_own_bytes", "NULL", [] { return gnntune_plan_own_bytes(nullptr) == 0; });
    add("gnntune_graph_format_bytes", "NULL", [] { return gnntune_graph_format_bytes(nullptr) == 0; });
    add("gnntune_plan_array_elements", "NULL", [] { return gnntune_plan_array_elements(nullptr, "x") == -1; });
    add("gnntune_plan_array_elements", "no name", [this] { return plan_->array_elements(nullptr) == -1; });
    for (const char* name : {"", "X", "x ", "x_row", "seed_offset", "struct_size"}) {
        add("gnntune_plan_array_elements", name, [=, this] { return plan_->array_elements(name) == -1; });
    }
    add("gnntune_plan_config", "NULL", [] { return std::string(gnntune_plan_config(nullptr)).empty(); });
    add("gnntune_plan_source", "NULL", [] { return std::string(gnntune_plan_source(nullptr)).empty(); });
    for (const gnntune_status status : {-1, 9, kInt32Max, kInt32Min}) {
        add("gnntune_status_string", std::to_string(status),
            [=] { return std::string(gnntune_status_string(status)) == "unknown status"; });
    }
    add("gnntune_version", "is what it is", [] { return gnntune_version() > 0; });
    add("gnntune_last_error", "is never NULL", [] { return gnntune_last_error() != nullptr; });

    char text[8];
    const auto untouched = [](auto call) {
        char buffer[8];
        std::memset(buffer, '#', sizeof buffer);
        call(buffer);
        return std::string(buffer, sizeof buffer) == "########";
    };
    add("gnntune_context_describe", "NULL", [=] {
        return untouched([](char* b) { gnntune_context_describe(nullptr, b, 0); }) &&
               gnntune_context_describe(nullptr, nullptr, sizeof text) == 0;
    });
    add("gnntune_context_describe", "no buffer", [this] {
        const std::size_t length = gnntune_context_describe(context_->get(), nullptr, 0);
        return length > 0 && gnntune_context_describe(context_->get(), nullptr, 100) == length;
    });
    add("gnntune_context_describe", "a buffer of nothing",
        [=, this] { return untouched([&](char* b) { gnntune_context_describe(context_->get(), b, 0); }); });
    add("gnntune_plan_explain", "NULL", [] { return gnntune_plan_explain(nullptr, nullptr, 0) == 0; });
    add("gnntune_plan_explain", "no buffer", [this] {
        const std::size_t length = gnntune_plan_explain(plan_->get(), nullptr, 0);
        return length > 0 && gnntune_plan_explain(plan_->get(), nullptr, 100) == length;
    });
    add("gnntune_plan_explain", "a buffer of nothing",
        [=, this] { return untouched([&](char* b) { gnntune_plan_explain(plan_->get(), b, 0); }); });

    add("gnntune_graph_fingerprint", "graph is NULL", kInvalid, "graph is NULL", [] {
        char out[33];
        return gnntune_graph_fingerprint(nullptr, nullptr, out);
    });
    add("gnntune_graph_fingerprint", "out is NULL", kInvalid, "out is NULL",
        [this] { return gnntune_graph_fingerprint(graph_->get(), nullptr, nullptr); });
    add("gnntune_graph_release_formats", "graph is NULL", kInvalid, "graph is NULL",
        [] { return gnntune_graph_release_formats(nullptr); });
}

TEST_F(LibraryNonsense, EndsInAStatusAndASentenceAndNothingElse) {
    add_opens();
    add_graphs();
    add_plans();
    add_runs();
    add_handles();
    add_head_scores();
    add_bias();
    add_edge_list();
    add_tiled();
    for (const Case& c : cases_) {
        SCOPED_TRACE(c.function + ": " + c.what);
        const gnntune_status status = c.call();
        EXPECT_EQ(status, c.expected) << gnntune_status_string(status) << ": " << gnntune_last_error();
        if (c.expected == GNNTUNE_OK) continue;
        EXPECT_NE(gnntune_last_error(), std::string());
        EXPECT_TRUE(contains(gnntune_last_error(), c.words));
    }
    // What is right still works.
    expect_right(*plan_);
}

TEST_F(LibraryNonsense, EveryFunctionOfTheHeaderIsAmongThem) {
    add_opens();
    add_graphs();
    add_plans();
    add_runs();
    add_handles();
    add_head_scores();
    add_bias();
    add_edge_list();
    add_tiled();
    std::set<std::string> covered;
    for (const Case& c : cases_) covered.insert(c.function);
    std::ifstream file(GNNTUNE_HEADER);
    if (!file) GTEST_SKIP() << "no " GNNTUNE_HEADER " here: built on another machine";
    std::ostringstream header;
    header << file.rdbuf();
    std::set<std::string> declared;
    const std::string text = header.str();
    const std::regex declaration(R"(GNNTUNE_API [^;(]*\b(gnntune_\w+)\()");
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
        declared.insert((*at)[1]);
    }
    EXPECT_GT(declared.size(), 15U);
    EXPECT_EQ(covered, declared) << "a function of gnntune.h is called with nothing wrong";
}

}  // namespace gnntune
