// The cases of library_nonsense_test.cpp about tiled graphs.
#include "tests/unit/library/library_nonsense.hpp"

namespace gnntune {

void LibraryNonsense::add_tiled() {
    tiled_ = std::make_unique<gt::TiledGraph>(context_->tiled(csr_description(), tiled_tiling()));
    tiled_plan_ = std::make_unique<gt::TiledPlan>(tiled_->plan(weighted_spmm()));
    gnntune_context* context = context_->get();
    gnntune_tiled_graph* graph = tiled_->get();

    const auto add_tiled = [&](const std::string& what, gnntune_status expected, const std::string& words,
                               const std::function<void(gnntune_csr&, gnntune_tiling&)>& change) {
        add("gnntune_tiled_graph_create", what, expected, words, [=, this] {
            gt::Csr csr = csr_description();
            gt::Tiling tiling = tiled_tiling();
            change(csr, tiling);
            return empty_handed<gnntune_tiled_graph>([&](gnntune_tiled_graph** out) {
                return gnntune_tiled_graph_create(context, &csr, &tiling, nullptr, out);
            });
        });
        // What it would take is refused in the same words, but for ids, which it does not read, and limits.
        if (what.starts_with("id ") || expected == GNNTUNE_OUT_OF_MEMORY) return;
        add("gnntune_tiled_memory", what, expected, words, [=, this] {
            gt::Csr csr = csr_description();
            gt::Tiling tiling = tiled_tiling();
            change(csr, tiling);
            std::uint64_t host = 77;
            std::uint64_t backend = 77;
            const auto status =
                gnntune_tiled_memory(context, &csr, &tiling, nullptr, &host, &backend, nullptr, nullptr);
            EXPECT_EQ(host + backend, 154U) << "something was written";
            return status;
        });
    };
    add_sizes("gnntune_tiling", 40, gnntune_tiling_init, [&](const auto& what, const auto& words, auto size) {
        add_tiled(what, kInvalid, words, [=](auto&, auto& t) { t.struct_size = size; });
    });
    add_tiled("csr of no size", kInvalid, "sizeof(gnntune_csr)", [](auto& g, auto&) { g.struct_size = 0; });
    for (const std::int32_t word : {-1, 3, std::numeric_limits<std::int32_t>::max()}) {
        add_tiled("place", kInvalid, "tiling.place is " + std::to_string(word),
                  [=](auto&, auto& t) { t.place = word; });
        add_tiled("memory", kInvalid, "memory is " + std::to_string(word), [=](auto& g, auto&) { g.memory = word; });
        add_tiled("offset_type", kInvalid, "offset_type is " + std::to_string(word),
                  [=](auto& g, auto&) { g.offset_type = word; });
        add_tiled("id_type", kInvalid, "id_type is " + std::to_string(word), [=](auto& g, auto&) { g.id_type = word; });
    }
    add_tiled("device arrays", kInvalid, "host memory", [](auto& g, auto&) { g.memory = GNNTUNE_DEVICE; });
    add_tiled("transient", kInvalid, "never transient", [](auto& g, auto&) { g.transient = 1; });
    for (const std::int64_t edges : {std::int64_t{-1}, std::int64_t{1} << 31}) {
        add_tiled("tile_edges", kInvalid, "tiling.tile_edges is " + std::to_string(edges),
                  [=](auto&, auto& t) { t.tile_edges = edges; });
    }
    add_tiled("n_rows", kInvalid, "n_rows=-1", [](auto& g, auto&) { g.n_rows = -1; });
    add_tiled("m", kInvalid, "m=-1", [](auto& g, auto&) { g.m = -1; });
    for (const std::int64_t size : {std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::max()}) {
        add_tiled("n_rows", GNNTUNE_UNSUPPORTED, std::to_string(size), [=](auto& g, auto&) { g.n_rows = size; });
        add_tiled("n_cols", GNNTUNE_UNSUPPORTED, std::to_string(size), [=](auto& g, auto&) { g.n_cols = size; });
        add_tiled("m that row_ptr does not have", GNNTUNE_INVALID_GRAPH, "expected the " + std::to_string(size),
                  [=](auto& g, auto&) { g.m = size; });
    }
    add_tiled("row_ptr is NULL", kInvalid, "row_ptr is NULL", [](auto& g, auto&) { g.row_ptr = nullptr; });
    add_tiled("col_idx is NULL", kInvalid, "col_idx is NULL", [](auto& g, auto&) { g.col_idx = nullptr; });
    add_tiled("col_idx lies crooked", kInvalid, "col_idx is not aligned",
              [](auto& g, auto&) { g.col_idx = shifted(g.col_idx, 2); });
    add_tiled("row_ptr lies crooked", kInvalid, "row_ptr is not aligned",
              [](auto& g, auto&) { g.row_ptr = shifted(g.row_ptr, 2); });
    add_tiled("id out of range", GNNTUNE_INVALID_GRAPH, "expected 0 to 2", [](auto& g, auto&) { g.n_cols = 3; });
    add_tiled("limit", GNNTUNE_OUT_OF_MEMORY, "host_limit_bytes is 5", [](auto&, auto& t) { t.host_limit_bytes = 5; });

    const gt::Csr csr = csr_description();
    add("gnntune_tiled_graph_create", "context is NULL", kInvalid, "context is NULL", [=] {
        return empty_handed<gnntune_tiled_graph>([&](gnntune_tiled_graph** out) {
            return gnntune_tiled_graph_create(nullptr, &csr, nullptr, nullptr, out);
        });
    });
    add("gnntune_tiled_graph_create", "csr is NULL", kInvalid, "gnntune_csr is NULL", [=] {
        return empty_handed<gnntune_tiled_graph>([&](gnntune_tiled_graph** out) {
            return gnntune_tiled_graph_create(context, nullptr, nullptr, nullptr, out);
        });
    });
    add("gnntune_tiled_graph_create", "out is NULL", kInvalid, "out is NULL",
        [=] { return gnntune_tiled_graph_create(context, &csr, nullptr, nullptr, nullptr); });
    add("gnntune_tiled_memory", "context is NULL", kInvalid, "context is NULL",
        [=] { return gnntune_tiled_memory(nullptr, &csr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); });
    add("gnntune_tiled_memory", "no results", GNNTUNE_OK, "",
        [=] { return gnntune_tiled_memory(context, &csr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); });

    const gnntune_problem problem = gt::spmm(kK).raw();
    add("gnntune_tiled_plan_create", "graph is NULL", kInvalid, "graph is NULL", [=] {
        return empty_handed<gnntune_tiled_plan>(
            [&](gnntune_tiled_plan** out) { return gnntune_tiled_plan_create(nullptr, &problem, nullptr, out); });
    });
    add("gnntune_tiled_plan_create", "problem is NULL", kInvalid, "gnntune_problem is NULL", [=] {
        return empty_handed<gnntune_tiled_plan>(
            [&](gnntune_tiled_plan** out) { return gnntune_tiled_plan_create(graph, nullptr, nullptr, out); });
    });
    add("gnntune_tiled_plan_create", "out is NULL", kInvalid, "out is NULL",
        [=] { return gnntune_tiled_plan_create(graph, &problem, nullptr, nullptr); });
    add("gnntune_tiled_plan_create", "k", kInvalid, "k is 0", [=] {
        gnntune_problem wrong = problem;
        wrong.k = 0;
        return empty_handed<gnntune_tiled_plan>(
            [&](gnntune_tiled_plan** out) { return gnntune_tiled_plan_create(graph, &wrong, nullptr, out); });
    });

    const gt::Operands nothing;
    add("gnntune_tiled_run", "plan is NULL", kInvalid, "plan is NULL",
        [=] { return gnntune_tiled_run(nullptr, &nothing, nullptr); });
    add("gnntune_tiled_run", "operands is NULL", kInvalid, "gnntune_operands is NULL",
        [this] { return gnntune_tiled_run(tiled_plan_->get(), nullptr, nullptr); });
    add("gnntune_tiled_run", "no operands", kInvalid, "operands.",
        [=, this] { return gnntune_tiled_run(tiled_plan_->get(), &nothing, nullptr); });

    add("gnntune_tiled_graph_fingerprint", "graph is NULL", kInvalid, "graph is NULL", [] {
        char out[33];
        return gnntune_tiled_graph_fingerprint(nullptr, out);
    });
    add("gnntune_tiled_graph_fingerprint", "out is NULL", kInvalid, "out is NULL",
        [=] { return gnntune_tiled_graph_fingerprint(graph, nullptr); });
    add("gnntune_tiled_plan_explain", "NULL", [] { return gnntune_tiled_plan_explain(nullptr, nullptr, 0) == 0; });
    add("gnntune_tiled_plan_explain", "no buffer", [this] {
        const std::size_t length = gnntune_tiled_plan_explain(tiled_plan_->get(), nullptr, 0);
        return length > 0 && gnntune_tiled_plan_explain(tiled_plan_->get(), nullptr, 100) == length;
    });
    add("gnntune_tiled_graph_destroy", "NULL", [] {
        gnntune_tiled_graph_destroy(nullptr);
        return true;
    });
    add("gnntune_tiled_plan_destroy", "NULL", [] {
        gnntune_tiled_plan_destroy(nullptr);
        return true;
    });
}

gt::Tiling LibraryNonsense::tiled_tiling() {
    gt::Tiling tiling;
    tiling.place = GNNTUNE_TILES_STREAMED;
    tiling.tile_edges = 29;
    return tiling;
}

}  // namespace gnntune
