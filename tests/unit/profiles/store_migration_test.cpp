// The file on disk: its schema, what is refused, how it moves forward.
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <random>

#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

std::string columns_of(const Database& db) {
    Statement s = db.prepare(
        "SELECT m.name, group_concat(p.name, ' ') FROM sqlite_schema AS m, pragma_table_info(m.name) AS p "
        "WHERE m.type IN ('table', 'view') GROUP BY m.type, m.name ORDER BY m.type, m.name",
        "listing");
    std::string out;
    while (s.step()) out += s.text(0) + ": " + s.text(1) + '\n';
    return out;
}

TEST_F(StoreTest, SchemaIsTheDocumentedOne) {
    const Store store = open();
    EXPECT_EQ(store.schema(), 4);
    EXPECT_EQ(store.database().integer("PRAGMA application_id", "reading"), 0x474e4e54);
    EXPECT_EQ(store.database().integer("PRAGMA foreign_keys", "reading"), 1);
    EXPECT_EQ(
        store.database().integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND "
                                 "name NOT LIKE 'sqlite%' AND NOT strict",
                                 "reading"),
        0);
    EXPECT_EQ(
        columns_of(store.database()),
        "accuracy: id graph_id environment_id model model_name way models vertices accuracy exact_accuracy loss "
        "loss_low "
        "loss_high max_error time_us exact_us run_id taken_at\n"
        "accuracy_call: accuracy_id position problem_id rule config variant variant_version time_us\n"
        "choice: id graph_id environment_id problem_id policy clock config variant variant_version source reason "
        "expected_us tied run_id decided_at\n"
        "counter: measurement_id name value taken_at\n"
        "device_constant: environment_id name table_bytes row_bytes value unit taken_at\n"
        "environment: id backend device_name compute_capability multiprocessors memory_bytes l2_bytes driver "
        "cuda_runtime libraries\n"
        "erratum: id condition reason added_at\n"
        "format_build: graph_id environment_id base format direction build_us bytes taken_at\n"
        "graph: id fingerprint n_rows n_cols m name source features\n"
        "graph_name: graph_id name source\n"
        "measurement: id graph_id environment_id problem_id run_id config variant variant_version policy clock status "
        "reason median_us q1_us q3_us min_us ci_low_us ci_high_us samples sm_clock_mhz prepare_us workspace_bytes "
        "format_bytes deterministic approximate max_error mean_error worst_ratio taken_at\n"
        "model: id op backend policy clock feature_version bytes training scores tool_version git_commit fitted_at\n"
        "part: measurement_id position config variant variant_version\n"
        "problem: id op k heads dtype reduce weighted direction self_loop text\n"
        "removed_erratum: condition removed_at\n"
        "run: id command tool_version git_commit started_at ended_at seed host\n"
        "run_identity: run_id identity\n"
        "step_call: step_choice_id position problem_id runs_per_step runs_per_graph config variant variant_version "
        "formats expected_us\n"
        "step_choice: id graph_id environment_id step policy clock expected_steps format_limit_bytes formats "
        "format_bytes workspace_bytes build_us step_us reason run_id decided_at\n"
        "variant: id version op backend deterministic approximate\n"
        "accuracies: graph model_name way device accuracy_percent loss_percent low_percent high_percent models "
        "vertices "
        "time_us speedup max_error model taken_at run_id environment_id\n"
        "best: graph op k problem device policy clock config time_us cusparse_us vs_cusparse runner_up margin_percent "
        "deterministic taken_at environment_id\n"
        "choices: graph op k problem device policy clock config version source expected_us tied reason decided_at "
        "run_id "
        "environment_id\n"
        "counters: measurement_id graph op k problem device policy clock config time_us dram_read_bytes "
        "dram_write_bytes l2_read_bytes l2_write_bytes l2_atomic_bytes l2_reduction_bytes l2_hit_percent "
        "l1_hit_percent occupancy_percent issue_percent l1_pipe_percent tensor_pipe_percent tensor_instructions "
        "shared_bank_conflicts sm_active_us atomic_unit_us counted_at environment_id\n"
        "failures: graph problem device policy clock config version status reason taken_at run_id\n"
        "runs: run command tool_version git_commit started_at ended_at seconds measurements ok device seed host\n"
        "steps: graph step device policy clock problem runs_per_step runs_per_graph config version formats "
        "expected_us step_us build_us format_bytes workspace_bytes format_limit_bytes expected_steps decided_at run_id "
        "environment_id\n"
        "usable: id graph_id environment_id problem_id run_id config variant variant_version policy clock status "
        "reason "
        "median_us q1_us q3_us min_us ci_low_us ci_high_us samples sm_clock_mhz prepare_us workspace_bytes "
        "format_bytes "
        "deterministic approximate max_error mean_error worst_ratio taken_at\n");
}

class StoreMigrationTest : public StoreTest {
protected:
    /// A file of the first schema.
    Store open_first() const {
        OpenOptions options;
        options.migrations = shipped_migrations().first(1);
        return Store::open(file(), Mode::read_write_create, options);
    }
};

TEST_F(StoreMigrationTest, MovesAnOlderSchemaForwardAndKeepsACopy) {
    const Migration next[] = {shipped_migrations()[0],
                              {2, "add_colour", "ALTER TABLE graph ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';"},
                              {3, "add_wish", "CREATE TABLE wish (id INTEGER PRIMARY KEY) STRICT;"},
                              {4, "add_hope", "CREATE TABLE hope (id INTEGER PRIMARY KEY) STRICT;"},
                              {5, "add_luck", "CREATE TABLE luck (id INTEGER PRIMARY KEY) STRICT;"}};
    std::vector<std::string> warnings;
    OpenOptions options;
    options.warn = [&](const std::string& warning) { warnings.push_back(warning); };
    options.migrations = next;
    Key key;
    {
        Store store = open_first();
        key = key_in(store);
        store.add_measurement(store.begin_run(run_info()), key, measurement("spmm.a", 1));
    }
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file(), Mode::read_only, options); }),
                         "has schema 1, this gnntune reads schema 5"));
    for (const int round : {0, 1}) {
        const Store store = Store::open(file(), Mode::read_write_create, options);
        EXPECT_EQ(store.schema(), 5) << round;
        EXPECT_EQ(store.measurements(key).size(), 1u);
        EXPECT_EQ(store.database().text("SELECT colour FROM graph", "reading"), "blue");
    }
    const std::filesystem::path backup = file("test.db.schema-1.backup");
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_TRUE(contains(warnings[0], backup.string()));
    const Store old = Store::open(backup, Mode::read_only);
    EXPECT_EQ(old.schema(), 1);
    EXPECT_EQ(old.measurements(key).size(), 1u);

    const std::string words = error_of(ErrorKind::database, [&] { open(); });
    EXPECT_TRUE(contains(words, "has schema 5"));
    EXPECT_TRUE(contains(words, "knows schemas up to 4"));
}

TEST_F(StoreMigrationTest, AFailingMigrationChangesNothing) {
    const Migration broken[] = {shipped_migrations()[0],
                                {2, "half", "CREATE TABLE half (id INTEGER) STRICT; SELECT nonsense;"}};
    const Migration dangling[] = {shipped_migrations()[0], {2, "dangling", "DELETE FROM graph;"}};
    {
        Store store = open_first();
        store.add_measurement(store.begin_run(run_info()), key_in(store), measurement("spmm.a", 1));
    }
    OpenOptions options;
    options.migrations = broken;
    const std::string words =
        error_of(ErrorKind::database, [&] { Store::open(file(), Mode::read_write_create, options); });
    EXPECT_TRUE(contains(words, "moving it to schema 2 (half), a copy from before is "));
    options.migrations = dangling;
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file(), Mode::read_write_create, options); }),
                         "dangling rows"));
    const Store store = Store::open(file(), Mode::read_only);
    EXPECT_EQ(store.schema(), 1);
    EXPECT_EQ(store.graphs().size(), 1u);
    EXPECT_EQ(store.database().integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'", "reading"), 0);
    EXPECT_TRUE(std::filesystem::exists(file("test.db.schema-1.backup.2")));
}

TEST_F(StoreTest, RefusesWhatIsNoStoreAndSaysWhatItIs) {
    write_file("a.mtx", "%%MatrixMarket matrix coordinate real general\n");
    write_file("a.npz", "PK\x03\x04 and so on, and on");
    write_file("a.txt", "hello");
    write_file("empty.db", "");
    std::mt19937_64 random(15);
    std::string garbage(8192, ' ');
    for (char& c : garbage) c = static_cast<char>(random());
    write_file("garbage.db", garbage);
    write_file("header.db", std::string("SQLite format 3\0", 16) + garbage);
    const struct {
        const char* name;
        const char* words;
    } cases[] = {{"a.mtx", "found a Matrix Market file"},
                 {"a.npz", "found a zip or npz file"},
                 {"a.txt", "found a text file"},
                 {"garbage.db", "found a file of unknown kind"},
                 {"header.db", "this is not a gnntune database"}};
    for (const auto& damaged : cases) {
        for (const Mode mode : {Mode::read_only, Mode::read_write_create}) {
            const std::string said = error_of(ErrorKind::database, [&] { Store::open(file(damaged.name), mode); });
            EXPECT_TRUE(contains(said, damaged.words));
            EXPECT_TRUE(contains(said, file(damaged.name).string()));
        }
    }
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file("empty.db"), Mode::read_only); }),
                         "an empty file"));
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file("none.db"), Mode::read_only); }),
                         "no such database"));
    EXPECT_TRUE(
        contains(error_of(ErrorKind::database, [&] { Store::open(folder_, Mode::read_only); }), "found a folder"));
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file("no/x.db"), Mode::read_write_create); }),
                         "does not exist"));
    EXPECT_FALSE(std::filesystem::exists(file("none.db")));
    EXPECT_FALSE(std::filesystem::exists(file("no")));
    EXPECT_EQ(Store::open(file("empty.db"), Mode::read_write_create).schema(), 4);
}

TEST_F(StoreTest, RefusesTheDatabaseOfAnotherProgram) {
    {
        const Database other = Database::open(file("other.db"), Access::read_write_create);
        other.execute("CREATE TABLE song (title TEXT)", "making it");
    }
    for (const Mode mode : {Mode::read_only, Mode::read_write_create}) {
        EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file("other.db"), mode); }),
                             "of another program (application_id 0x0, expected 0x474e4e54)"));
    }
    Database::open(file("other.db"), Access::read_write_create)
        .execute("PRAGMA application_id = 252006673", "marking it");
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { Store::open(file("other.db"), Mode::read_write_create); }),
                         "application_id 0xf055111"));
    EXPECT_EQ(Database::open(file("other.db"), Access::read_only).integer("SELECT count(*) FROM song", "reading"), 0);
}

TEST_F(StoreTest, RefusesATruncatedFile) {
    {
        Store store = open();
        const std::int64_t run = store.begin_run(run_info());
        const Key key = key_in(store);
        for (int i = 0; i < 200; ++i)
            store.add_measurement(run, key, measurement("spmm.a{i=" + std::to_string(i) + "}", 1));
    }
    const auto size = std::filesystem::file_size(file());
    for (const double part : {0.9, 0.5, 0.2, 0.02, 0.001}) {
        const auto cut = static_cast<std::uintmax_t>(part * static_cast<double>(size));
        std::filesystem::copy_file(file(), file("cut.db"), std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(file("cut.db"), cut);
        error_of(ErrorKind::database, [&] {
            Store store = Store::open(file("cut.db"), Mode::read_only);
            const auto problems = store.check();
            throw database_error(problems.empty() ? "" : problems[0]);
        });
        EXPECT_TRUE(contains(error_of(ErrorKind::database,
                                      [&] {
                                          const Store store = Store::open(file("cut.db"), Mode::read_only);
                                          store.measurements({1, 1, 1});
                                      }),
                             "cut.db: "))
            << cut;
    }
}

/// Runs `f` in a child that root's powers do not help; returns what it returns.
template <class F>
int in_unprivileged_child(F&& f) {
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
        try {
            _exit(f());
        } catch (const std::exception& error) {
            std::fprintf(stderr, "child: %s\n", error.what());
            _exit(98);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(StoreTest, ReadsFromAReadOnlyFolderAndRefusesToWriteThere) {
    Key key;
    {
        Store store = open();  // leaves WAL mode in the header
        key = key_in(store);
        store.add_measurement(store.begin_run(run_info()), key, measurement("spmm.a", 1));
    }
    ASSERT_FALSE(std::filesystem::exists(file("test.db-wal")));
    chmod(file().c_str(), 0444);
    chmod(folder_.c_str(), 0555);
    EXPECT_EQ(in_unprivileged_child([&] {
                  const Store store = Store::open(file(), Mode::read_only);
                  return store.measurements(key).size() == 1 && store.database().access() == Access::immutable ? 0 : 1;
              }),
              0);
    EXPECT_EQ(in_unprivileged_child([&] {
                  try {
                      Store::open(file(), Mode::read_write_create);
                  } catch (const Error& error) {
                      const std::string words = error.what();
                      return error.kind() == ErrorKind::database && words.find("read-only") != std::string::npos ? 0
                                                                                                                 : 2;
                  }
                  return 1;
              }),
              0);
    EXPECT_EQ(in_unprivileged_child([&] {
                  try {
                      Store::open(file("new.db"), Mode::read_write_create);
                  } catch (const Error& error) {
                      return error.kind() == ErrorKind::database ? 0 : 2;
                  }
                  return 1;
              }),
              0);
}

TEST_F(StoreTest, ReadOnlyStoreDoesNotWrite) {
    { open(); }
    Store store = Store::open(file(), Mode::read_only);
    EXPECT_FALSE(store.find_graph_id(graph().fingerprint));
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { store.graph_id(graph()); }), "read-only"));
}

/// Puts an environment variable back as it was.
class RestoreVariable {
public:
    explicit RestoreVariable(const char* name) : name_(name) {
        if (const char* value = std::getenv(name)) before_ = value;
    }
    ~RestoreVariable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST_F(StoreTest, RenamesToNewNamesOnly) {
    write_file("from", "1");
    write_file("to", "2");
    EXPECT_FALSE(rename_to_new(file("from"), file("to")));
    EXPECT_TRUE(std::filesystem::exists(file("from")));
    EXPECT_TRUE(rename_to_new(file("from"), file("other")));
    EXPECT_FALSE(std::filesystem::exists(file("from")));
    EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { (void)rename_to_new(file("from"), file("third")); }),
                         "cannot be renamed to"));
}

TEST_F(StoreTest, ChoosesTheJournalAndTheDefaultPlace) {
    const RestoreVariable restore[] = {RestoreVariable("GNNTUNE_DB"), RestoreVariable("XDG_DATA_HOME"),
                                       RestoreVariable("HOME")};
    EXPECT_EQ(network_file_system(0x6969), "NFS");
    EXPECT_EQ(network_file_system(0xff534d42), "CIFS");
    EXPECT_EQ(network_file_system(0x0bd00bd0), "Lustre");
    EXPECT_FALSE(network_file_system(0xef53));  // ext4
    OpenOptions options;
    options.journal = Journal::rollback;
    EXPECT_EQ(Store::open(file(), Mode::read_write_create, options).database().text("PRAGMA journal_mode", "reading"),
              "delete");
    if (!network_file_system_of(file())) {
        EXPECT_EQ(open().database().text("PRAGMA journal_mode", "reading"), "wal");
    }

    setenv("XDG_DATA_HOME", (folder_ / "data").c_str(), 1);
    unsetenv("GNNTUNE_DB");
    EXPECT_EQ(default_user_database(), folder_ / "data" / "gnntune" / "user.db");
    EXPECT_EQ(Store::open(default_user_database(), Mode::read_write_create).schema(), 4);
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/somewhere", 1);
    EXPECT_EQ(default_user_database(), "/somewhere/.local/share/gnntune/user.db");
    setenv("GNNTUNE_DB", "x.db", 1);
    EXPECT_EQ(default_user_database(), "x.db");
    unsetenv("GNNTUNE_DB");
}

TEST_F(StoreTest, OpensPathsThatAnUriWouldMisread) {
    for (const char* name : {"a b.db", "q?mode=memory.db", "h#x.db", "p%41.db", "ü.db"}) {
        EXPECT_EQ(Store::open(file(name), Mode::read_write_create).schema(), 4);
        EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
    }
}

}  // namespace
}  // namespace gnntune::store
