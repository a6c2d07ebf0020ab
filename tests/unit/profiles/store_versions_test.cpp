// Which version of a variant counts: the one that the program has which asks.
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreVersionsTest : public StoreTest {
protected:
    /// A program with spmm.rows of that version, and none of the others.
    Store open_as(std::int32_t version) const {
        OpenOptions options;
        options.version_here = [version](std::string_view variant) {
            return variant == "spmm.rows" ? std::optional(version) : std::nullopt;
        };
        return Store::open(file(), Mode::read_write_create, options);
    }
    static Measurement of_version(const std::string& config, double us, std::int32_t version) {
        Measurement m = measurement(config, us);
        m.variant_version = version;
        return m;
    }
    static std::vector<std::string> best_of(const Store& store) {
        std::vector<std::string> out;
        for (const BestRow& row : store.best()) out.push_back(row.config);
        return out;
    }
    using Texts = std::vector<std::string>;
};

TEST_F(StoreVersionsTest, ANewerVersionThatTheFileMerelyKnowsChangesNothing) {
    Store store = open_as(2);
    const Key key = key_in(store);
    const std::int64_t run = store.begin_run(run_info());
    store.add_measurement(run, key, of_version("spmm.rows{vec=4}", 30.3, 2));
    store.add_measurement(run, key, measurement("spmm.edges{parts=8}", 34));
    store.database().execute("INSERT INTO variant VALUES ('spmm.rows', 3, 'spmm', 'cuda', 1, 0)", "a colleague's file");
    store.database().execute("INSERT INTO variant VALUES ('spmm.edges', 2, 'spmm', 'cuda', 1, 0)",
                             "a colleague's file");

    EXPECT_EQ(best_of(store), Texts{"spmm.rows{vec=4}"});
    EXPECT_EQ(best_of(Store::open(file(), Mode::read_only)), Texts{"spmm.rows{vec=4}"})
        << "of those that were measured";
    EXPECT_EQ(store.prune(false).outdated, 0);
    EXPECT_EQ(store.measurements(key).size(), 2U);
}

TEST_F(StoreVersionsTest, EachProgramCountsItsOwn) {
    {
        Store store = open_as(2);
        const Key key = key_in(store);
        const std::int64_t run = store.begin_run(run_info());
        store.add_measurement(run, key, of_version("spmm.rows{vec=1}", 10, 1));
        store.add_measurement(run, key, of_version("spmm.rows{vec=2}", 20, 2));
        store.add_measurement(run, key, of_version("spmm.rows{vec=3}", 5, 3));
        store.add_measurement(run, key, measurement("spmm.edges", 40));
        // Compositions go by their parts.
        store.add_measurement(run, key,
                              with_parts(measurement("spmm.old{spmm=x}", 2), {{Config::parse("spmm.rows"), 1}}));
        store.add_measurement(run, key,
                              with_parts(measurement("spmm.new{spmm=x}", 1), {{Config::parse("spmm.rows"), 3}}));
        store.add_measurement(run, key,
                              with_parts(measurement("spmm.own{spmm=x}", 15), {{Config::parse("spmm.rows"), 2}}));
    }
    EXPECT_EQ(best_of(open_as(1)), Texts{"spmm.old{spmm=x}"});
    EXPECT_EQ(best_of(open_as(2)), Texts{"spmm.own{spmm=x}"});
    EXPECT_EQ(open_as(2).best().front().runner_up, "spmm.rows{vec=2}");
    ASSERT_EQ(open_as(2).best().front().parts.size(), 1U);
    EXPECT_EQ(best_of(open_as(3)), Texts{"spmm.new{spmm=x}"});
    EXPECT_EQ(best_of(open_as(4)), Texts{"spmm.edges"}) << "nothing of it was measured yet";

    EXPECT_EQ(open_as(1).prune(true).outdated, 0);
    EXPECT_EQ(open_as(3).prune(true).outdated, 2);
    EXPECT_EQ(open_as(2).prune(false).outdated, 1);
    Store store = open_as(2);
    EXPECT_EQ(store.measurements(key_in(store)).size(), 6U) << "what a newer program uses stays";
}

TEST_F(StoreVersionsTest, AsTheViewWhereTheFileKnowsNoOther) {
    Store store = open_as(1);
    const std::int64_t run = store.begin_run(run_info());
    for (const int k : {16, 64}) {
        for (const char* config : {"spmm.rows{vec=1}", "spmm.rows{vec=2}", "spmm.cusparse", "spmm.edges"}) {
            store.add_measurement(run, key_in(store, k), measurement(config, 3.0 + static_cast<double>(config[5])));
        }
    }
    const auto best = store.best();
    Statement view = store.database().prepare("SELECT * FROM best", "reading");
    for (const BestRow& row : best) {
        ASSERT_TRUE(view.step());
        EXPECT_EQ(row.graph, view.view(0));
        EXPECT_EQ(row.k, view.integer(2));
        EXPECT_EQ(row.config, view.view(7));
        EXPECT_EQ(row.time_us, view.real(8));
        EXPECT_EQ(row.cusparse_us, view.real(9));
        EXPECT_EQ(row.vs_cusparse, view.real(10));
        EXPECT_EQ(row.runner_up, view.text(11));
        EXPECT_EQ(row.margin_percent, view.real(12));
        EXPECT_EQ(row.key, key_in(store, row.k));
    }
    EXPECT_FALSE(view.step());
}

TEST_F(StoreVersionsTest, AWrongSizeGivesWayToTheGraphInHand) {
    std::vector<std::string> said;
    OpenOptions options;
    options.warn = [&said](const std::string& sentence) { said.push_back(sentence); };
    Store store = Store::open(file(), Mode::read_write_create, options);
    const std::int64_t id = store.graph_id(graph());
    store.database().execute("UPDATE graph SET n_rows = 2709, m = 1", "spoiling it");

    EXPECT_EQ(store.graph_id(graph()), id);
    EXPECT_EQ(store.graph_id(graph()), id);
    EXPECT_EQ(store.graphs().front().record.n_rows, 2708);
    EXPECT_EQ(store.graphs().front().record.m, 10556);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(contains(said.front(),
                         "the graph cora had 2709 rows, 2708 columns and 1 edges there, and has 2708, 2708 "
                         "and 10556; that is corrected"));
}

}  // namespace
}  // namespace gnntune::store
