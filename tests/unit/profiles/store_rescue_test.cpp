// Damaged databases: noticed, set aside, and read around the damage.
#include "profiles/store/rescue.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <random>
#include <set>

#include "tests/unit/common/child_process.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

class Rescue : public StoreTest {
protected:
    static constexpr int kGraphs = 6;
    static constexpr int kConfigs = 60;
    static constexpr std::size_t kPage = 4096;

    void SetUp() override {
        StoreTest::SetUp();
        {
            Store store = open();
            const std::int64_t run = store.begin_run({"gnntune tune", "0.1.0", "abc", 1, ""});
            Transaction all = store.transaction();
            for (int g = 0; g < kGraphs; ++g) {
                const Key key{store.graph_id(graph("graph" + std::to_string(g), static_cast<std::uint64_t>(g))),
                              store.environment_id(environment()), store.problem_id(problem())};
                for (int c = 0; c < kConfigs; ++c) {
                    store.add_measurement(run, key,
                                          measurement("spmm.rows{lanes=" + std::to_string(c + 1) + "}", 10.0 + g + c));
                }
            }
            all.commit();
            store.database().execute("PRAGMA wal_checkpoint(TRUNCATE)", "emptying the log");
        }
        std::ifstream in(file(), std::ios::binary);
        whole_.assign(std::istreambuf_iterator<char>(in), {});
        ASSERT_GT(whole_.size(), 20 * kPage);
        rows_ = rows_of(file());
        ASSERT_EQ(rows_.size(), static_cast<std::size_t>(kGraphs * kConfigs));
    }

    fs::path damaged(const std::string& bytes) const {
        for (const char* side : {"damaged.db", "damaged.db-wal", "damaged.db-shm", "rescued.db"})
            fs::remove(file(side));
        write_file("damaged.db", bytes);
        return file("damaged.db");
    }
    /// Page `page`, from 1, filled with noise.
    std::string without_page(std::size_t page) const {
        std::string bytes = whole_;
        std::mt19937 noise(static_cast<unsigned>(page));
        for (std::size_t i = (page - 1) * kPage; i < page * kPage; ++i) bytes[i] = static_cast<char>(noise());
        return bytes;
    }
    std::size_t pages() const { return whole_.size() / kPage; }

    /// What measurements say, without ids.
    static std::set<std::string> rows_of(const fs::path& path) {
        const Store store = Store::open(path, Mode::read_only);
        std::set<std::string> out;
        Statement s = store.database().prepare(
            "SELECT graph.name || ' ' || config || ' ' || median_us || ' ' || taken_at FROM measurement JOIN graph ON "
            "graph.id = graph_id",
            "reading rows");
        while (s.step()) out.insert(s.text(0));
        return out;
    }
    std::string complaint(const fs::path& path, const OpenOptions& options = {}) const {
        try {
            Store::open(path, Mode::read_write_create, options);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

    std::string whole_;
    std::set<std::string> rows_;
};

TEST_F(Rescue, OfAWholeFileTakesEverything) {
    std::int64_t measurements = 0;
    for (const RescuedTable& t : rescue(file(), file("rescued.db"))) {
        EXPECT_TRUE(t.whole) << t.name;
        EXPECT_EQ(t.orphans, 0) << t.name;
        if (t.name == "measurement") measurements = t.rows;
    }
    EXPECT_EQ(measurements, kGraphs * kConfigs);
    EXPECT_EQ(rows_of(file("rescued.db")), rows_);
    EXPECT_TRUE(Store::open(file("rescued.db"), Mode::read_only).check({}).empty());
}

TEST_F(Rescue, AroundAnyPageLeavesASoundFileAndInventsNothing) {
    std::size_t most = 0;
    std::size_t some = 0;
    std::size_t refused = 0;
    for (std::size_t page = 2; page <= pages(); ++page) {
        const fs::path path = damaged(without_page(page));
        try {
            rescue(path, file("rescued.db"));
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("which tables it has"), std::string::npos) << error.what();
            EXPECT_FALSE(fs::exists(file("rescued.db")));
            ++refused;
            continue;
        }
        const auto rows = rows_of(file("rescued.db"));
        EXPECT_TRUE(std::includes(rows_.begin(), rows_.end(), rows.begin(), rows.end())) << "page " << page;
        const auto problems = Store::open(file("rescued.db"), Mode::read_only).check({});
        EXPECT_TRUE(problems.empty()) << "page " << page << ": " << problems.front();
        most += rows.size() == rows_.size() ? 1 : 0;
        some += rows.size() * 10 >= rows_.size() * 8 ? 1 : 0;
    }
    // Pages of indexes cost nothing, a page of measurements those that it held; what lists graphs or pages costs more.
    EXPECT_GE(most * 5, pages());
    EXPECT_GE(some * 4, pages() * 3);
    EXPECT_LE(refused, 6U) << "the few pages of the schema";
    for (const auto& entry : fs::directory_iterator(folder_)) {
        EXPECT_EQ(entry.path().string().find(".new-"), std::string::npos) << entry.path() << " was left";
    }
}

// Rows that the disk has no room for are not rows that the schema forbids.
TEST_F(Rescue, OnAFullDiskFailsAndLeavesNothing) {
    // Half of the rows lie in the log, so that what is rescued is larger than what is copied.
    Store source = Store::open(file("source.db"), Mode::read_write_create);
    const Store half = Store::open(file(), Mode::read_only);
    const std::int64_t run = source.begin_run({"gnntune tune", "0.1.0", "abc", 1, ""});
    for (int g = 0; g < kGraphs; ++g) {
        Transaction all = source.transaction();
        const Key key{source.graph_id(graph("graph" + std::to_string(g), static_cast<std::uint64_t>(g))),
                      source.environment_id(environment()), source.problem_id(problem())};
        for (const Measurement& m : half.measurements({g + 1, 1, 1})) source.add_measurement(run, key, m);
        all.commit();
        if (2 * g < kGraphs) source.database().execute("PRAGMA wal_checkpoint(TRUNCATE)", "emptying the log");
    }
    const auto bytes = std::max(fs::file_size(file("source.db")), fs::file_size(file("source.db-wal")));
    ASSERT_LT(bytes + kPage, whole_.size());
    const auto left = [&] {
        std::string out;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("rescued.db")) out += name + " ";
        }
        return out;
    };
    // No room for a database, for the copy that is read, for the rows.
    for (const rlim_t room : {rlim_t{1024}, rlim_t{bytes / 2}, rlim_t{bytes - kPage}, rlim_t{bytes + 1024}}) {
        const pid_t child = test::in_child([&] {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{room, room};
            setrlimit(RLIMIT_FSIZE, &limit);
            try {
                rescue(file("source.db"), file("rescued.db"));
            } catch (const Error& error) {
                // The write that failed is named, not what followed from it.
                const bool first = std::string(error.what()).find("no transaction") == std::string::npos;
                _exit(error.kind() == ErrorKind::database && first ? 7 : 8);
            }
        });
        EXPECT_EQ(test::wait_for(child), 7) << room;
        EXPECT_EQ(left(), "") << room;
    }
    rescue(file("source.db"), file("rescued.db"));
    EXPECT_EQ(rows_of(file("rescued.db")), rows_);
    EXPECT_EQ(left(), "rescued.db ");
}

TEST_F(Rescue, OfATruncatedFileTakesItsFront) {
    const fs::path path = damaged(whole_.substr(0, whole_.size() * 7 / 10));
    rescue(path, file("rescued.db"));
    const auto rows = rows_of(file("rescued.db"));
    EXPECT_GT(rows.size(), rows_.size() / 10);
    for (const std::string& row : rows) EXPECT_TRUE(rows_.contains(row)) << row;
    EXPECT_TRUE(Store::open(file("rescued.db"), Mode::read_only).check({}).empty());
}

TEST_F(Rescue, LeavesOutRowsThatNobodyCanRead) {
    {
        Store store = Store::open(file("odd.db"), Mode::read_write_create);
        const Key key = key_in(store);
        const std::int64_t run = store.begin_run(run_info());
        store.add_measurement(run, key, measurement("spmm.kept", 1));
        store.add_measurement(run, key, measurement("spmm.timed", 2));
        store.add_measurement(run, key, measurement("spmm.named", 3));
        store.add_measurement(run, key,
                              with_parts(measurement("spmm.whole{spmm=x}", 4), {{Config::parse("spmm.part"), 1}}));
        const std::int64_t later = store.begin_run(run_info());
        store.add_measurement(later, key_in(store, 128), measurement("spmm.kept", 5));
        store.database().execute(R"sql(
PRAGMA ignore_check_constraints = ON;
INSERT INTO environment SELECT 7, 'hip', 'MI300', '', 1, 1, 1, '', '', '' ;
INSERT INTO measurement SELECT 70, graph_id, 7, problem_id, run_id, config, variant, variant_version, policy, clock, status,
    reason, 1, 1, 1, 1, 1, 1, samples, sm_clock_mhz, prepare_us, workspace_bytes, format_bytes, deterministic, approximate,
    max_error, mean_error, worst_ratio, taken_at FROM measurement WHERE id = 1;
UPDATE measurement SET taken_at = 'then' WHERE config = 'spmm.timed';
UPDATE measurement SET config = 'spmm.named{' WHERE config = 'spmm.named';
UPDATE part SET config = '{}';
UPDATE run SET started_at = 'once', ended_at = 'never' WHERE id = 2;
UPDATE problem SET text = 'none' WHERE k = 64;
UPDATE variant SET backend = 'hip' WHERE id = 'spmm.kept';
INSERT INTO problem SELECT 7, 'convolution', 1, 1, 'f32', 'sum', 0, 'forward', 0, 'convolution';
INSERT INTO graph SELECT 7, 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz', 1, 1, 1, 'none', '', '{}';
)sql",
                                 "spoiling it");
        EXPECT_GE(store.check().size(), 10U);
    }
    for (const RescuedTable& table : rescue(file("odd.db"), file("rescued.db"))) {
        EXPECT_TRUE(table.whole) << table.name;
        if (table.name == "measurement") {
            EXPECT_EQ(table.orphans, 4);
        } else if (table.name == "environment" || table.name == "problem" || table.name == "graph") {
            EXPECT_EQ(table.orphans, 1);
        }
    }
    Store rescued = Store::open(file("rescued.db"), Mode::read_write_create);
    EXPECT_EQ(rescued.check(), std::vector<std::string>{});
    const auto left = rescued.measurements(key_in(rescued));
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left.front().median_us, 1);
    EXPECT_EQ(rescued.measurements(key_in(rescued, 128)).size(), 1U) << "a run whose time is lost is made anew";
    Store other = Store::open(file("other.db"), Mode::read_write_create);
    EXPECT_THROW((void)other.merge(file("odd.db")), Error);
    EXPECT_EQ(other.merge(file("rescued.db")).measurements, 2);
}

TEST_F(Rescue, WithoutItsFirstPageIsRefusedAndLeavesNothing) {
    EXPECT_THROW(rescue(damaged(without_page(1)), file("rescued.db")), Error);
    EXPECT_FALSE(fs::exists(file("rescued.db")));
    EXPECT_THROW(rescue(file("missing.db"), file("rescued.db")), Error);
    write_file("taken.db", "mine");
    EXPECT_THROW(rescue(file(), file("taken.db")), Error) << "a file that is there is not written over";
    EXPECT_EQ(fs::file_size(file("taken.db")), 4U);
}

TEST_F(Rescue, WritersRefuseADamagedFileOrSetItAside) {
    const fs::path path = damaged(whole_.substr(0, whole_.size() * 9 / 10));
    EXPECT_NE(complaint(path).find("gnntune db rescue"), std::string::npos) << complaint(path);
    OpenOptions options;
    options.set_damaged_aside = true;
    std::string warned;
    options.warn = [&](const std::string& sentence) { warned += sentence; };
    EXPECT_EQ(complaint(path, options), "");
    EXPECT_TRUE(rows_of(path).empty()) << "a new one was begun";
    const auto at = warned.find("damaged.db.damaged-");
    ASSERT_NE(at, std::string::npos) << warned;
    EXPECT_TRUE(warned.ends_with("gnntune db merge FILE --db " + fs::canonical(path).string())) << warned;
    const fs::path aside = file(warned.substr(at, warned.find(',', at) - at));
    ASSERT_TRUE(fs::exists(aside)) << aside;
    EXPECT_EQ(fs::file_size(aside), whole_.size() * 9 / 10) << "as it was";
    rescue(aside, file("rescued.db"));
    EXPECT_GT(rows_of(file("rescued.db")).size(), 0U);
    EXPECT_EQ(complaint(file(), options), "") << "a whole file stays";
    EXPECT_EQ(rows_of(file()), rows_);
}

TEST_F(Rescue, ALinkStaysAndWhatItLeadsToIsSetAside) {
    const fs::path path = damaged(whole_.substr(0, whole_.size() * 9 / 10));
    fs::create_directory(file("links"));
    fs::create_symlink(path, file("links") / "link.db");
    OpenOptions options;
    options.set_damaged_aside = true;
    EXPECT_EQ(complaint(file("links") / "link.db", options), "");
    EXPECT_TRUE(fs::is_symlink(file("links") / "link.db"));
    EXPECT_TRUE(rows_of(path).empty()) << "the new one is where the old one was";
}

TEST_F(Rescue, TheFileOfAnotherProgramIsLeftAlone) {
    std::string foreign = whole_.substr(0, whole_.size() * 9 / 10);
    for (std::size_t i = 68; i < 72; ++i) foreign[i] = 7;  // the application id of its header
    const fs::path path = damaged(foreign);
    OpenOptions options;
    options.set_damaged_aside = true;
    EXPECT_NE(complaint(path, options), "");
    EXPECT_EQ(fs::file_size(path), foreign.size());
}

}  // namespace
}  // namespace gnntune::store
