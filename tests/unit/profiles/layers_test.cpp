// The user's database and those that came with the installation, asked together.
#include "profiles/snapshot/layers.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "core/model/model_features.hpp"
#include "profiles/snapshot/snapshot.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

class Layers : public StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        fs::create_directory(file("shipped"));
        setenv("GNNTUNE_PROFILES", file("shipped").c_str(), 1);
    }
    void TearDown() override {
        unsetenv("GNNTUNE_PROFILES");
        StoreTest::TearDown();
    }
    fs::path shipped(const std::string& name) const { return file("shipped") / name; }

    static ModelRow model(const std::string& bytes, Policy policy, std::int32_t features = model::kFeatureVersion) {
        return {Op::spmm, Backend::cuda, policy, Clock::events,         features, bytes, "{}",
                "{}",     "0.1.0",       "abc",  "2026-11-30T00:00:00Z"};
    }
    static void measure(Store& store, std::int32_t k, double median_us) {
        const Key key{store.graph_id(graph()), store.environment_id(environment()), store.problem_id(problem(k))};
        store.add_measurement(store.begin_run({"gnntune tune", "0.1.0", "abc", 1, ""}), key,
                              measurement("spmm.rows{vec=4}", median_us));
    }
    static std::multiset<std::string> bytes_of(const std::vector<LayeredModel>& models) {
        std::multiset<std::string> out;
        for (const LayeredModel& m : models) out.insert(m.row.bytes);
        return out;
    }
    double answer(const Snapshot& snapshot, std::int32_t k) const {
        const auto found = snapshot.find(graph().fingerprint, problem(k), Policy::hot);
        return found ? found->rows.front().median_us : 0;
    }
};

TEST_F(Layers, ShippedDatabasesAreThoseOfTheFolderByName) {
    Store::open(shipped("b.db"), Mode::read_write_create);
    Store::open(shipped("a.db"), Mode::read_write_create);
    write_file("shipped/README.md", "no database");
    EXPECT_EQ(shipped_databases(), (std::vector<fs::path>{shipped("a.db"), shipped("b.db")}));
    EXPECT_EQ(layers_over(file()), (std::vector<fs::path>{file(), shipped("a.db"), shipped("b.db")}));
    EXPECT_EQ(layers_over(shipped("a.db")), (std::vector<fs::path>{shipped("a.db"), shipped("b.db")})) << "once each";
    EXPECT_EQ(shown(shipped("a.db")), shipped("a.db").string() + " (shipped)");
    EXPECT_EQ(shown(file()), file().string());
    setenv("GNNTUNE_PROFILES", "", 1);
    EXPECT_TRUE(shipped_databases().empty());
    setenv("GNNTUNE_PROFILES", file("nowhere").c_str(), 1);
    EXPECT_TRUE(shipped_databases().empty());
}

TEST_F(Layers, AFolderThatIsNotThereIsSaid) {
    std::vector<std::string> said;
    const auto warn = [&](const std::string& sentence) { said.push_back(sentence); };
    EXPECT_EQ(missing_profiles(), "");
    setenv("GNNTUNE_PROFILES", "", 1);
    EXPECT_EQ(missing_profiles(), "") << "empty turns them off";
    errata_of({}, warn);
    EXPECT_EQ(said, std::vector<std::string>{});
    setenv("GNNTUNE_PROFILES", file("nowhere").c_str(), 1);
    EXPECT_TRUE(
        contains(missing_profiles(), "GNNTUNE_PROFILES is '" + file("nowhere").string() + "', which is no folder"));
    errata_of({}, warn);
    EXPECT_EQ(said, std::vector<std::string>{missing_profiles()});
    unsetenv("GNNTUNE_PROFILES");
    EXPECT_EQ(missing_profiles(), "");
}

TEST_F(Layers, TheMoreSpecificOneWinsAndTheOtherFillsWhatItLacks) {
    {
        Store user = open();
        measure(user, 16, 10);
        Store below = Store::open(shipped("a.db"), Mode::read_write_create);
        measure(below, 16, 5);
        measure(below, 32, 7);
    }
    const Snapshot snapshot = Snapshot::load(layers_over(file()), environment());
    EXPECT_EQ(answer(snapshot, 16), 10) << "the user's, though a shipped row is faster";
    EXPECT_EQ(answer(snapshot, 32), 7);
    EXPECT_EQ(answer(snapshot, 64), 0);
}

TEST_F(Layers, MoreRowsOfAnotherClockDoNotOutweighTheUsersOwn) {
    {
        Store user = open();
        measure(user, 16, 10);  // clock span
        Store below = Store::open(shipped("a.db"), Mode::read_write_create);
        const Key key{below.graph_id(graph()), below.environment_id(environment()), below.problem_id(problem(16))};
        const std::int64_t run = below.begin_run({"gnntune tune", "0.1.0", "abc", 1, ""});
        for (const char* config : {"spmm.rows{vec=4}", "spmm.rows{vec=2}", "spmm.rows{vec=1}"}) {
            Measurement m = measurement(config, 5);
            m.clock = Clock::events;
            below.add_measurement(run, key, m);
        }
    }
    EXPECT_EQ(answer(Snapshot::load(layers_over(file()), environment()), 16), 10);
}

TEST_F(Layers, ABrokenShippedFileNeverFailsAQuestion) {
    write_file("shipped/a.db", "no database at all");
    {
        Store user = open();
        measure(user, 16, 10);
    }
    const Snapshot snapshot = Snapshot::load(layers_over(file()), environment());
    EXPECT_EQ(answer(snapshot, 16), 10);
    EXPECT_EQ(snapshot.files().back().state, SnapshotFile::State::unreadable);
    EXPECT_TRUE(open_layers(file("missing.db"), WhenMissing::nothing).empty());
}

TEST_F(Layers, ModelsThatTheUserLacksComeFromBelow) {
    Store user = open();
    Store below = Store::open(shipped("a.db"), Mode::read_write_create);
    below.put_model(model("shipped hot", Policy::hot));
    below.put_model(model("shipped cold", Policy::cold));
    EXPECT_EQ(bytes_of(models_of_layers(user, environment())),
              (std::multiset<std::string>{"shipped hot", "shipped cold"}));
    user.put_model(model("of other features", Policy::hot, model::kFeatureVersion + 1));
    EXPECT_EQ(bytes_of(models_of_layers(user, environment())),
              (std::multiset<std::string>{"shipped hot", "shipped cold"}));
    user.put_model(model("own", Policy::hot));
    EXPECT_EQ(bytes_of(models_of_layers(user, environment())), (std::multiset<std::string>{"own", "shipped cold"}));
}

// Two GPUs have models: each gets its own, and one that nobody measured that of the likest.
TEST_F(Layers, OfShippedModelsThatOfTheDeviceAnswersElseOfTheLikest) {
    const auto gpu = [](const std::string& name, const std::string& capability, std::int64_t memory) {
        Environment e = environment();
        e.device_name = name, e.compute_capability = capability, e.memory_bytes = memory;
        return e;
    };
    const Environment small = gpu("Small", "9.0", 80), large = gpu("Large", "9.0", 140),
                      next = gpu("Next", "10.0", 190);
    for (const auto& [name, e] : {std::pair("a.db", small), std::pair("b.db", large), std::pair("c.db", next)}) {
        Store below = Store::open(shipped(name), Mode::read_write_create);
        below.environment_id(e);
        below.put_model(model(e.device_name, Policy::hot));
    }
    const auto models = [&](const Environment& here) {
        const Snapshot snapshot = Snapshot::load(layers_over(file()), here);
        const SnapshotModel* found = snapshot.model(Op::spmm, Policy::hot);
        EXPECT_EQ(bytes_of(models_of_layers(open(), here)), std::multiset<std::string>{found->row.bytes});
        return found->row.bytes;
    };
    EXPECT_EQ(models(small), "Small");
    EXPECT_EQ(models(large), "Large");
    EXPECT_EQ(models(next), "Next");
    const auto first = open_layers(file("missing.db"));  // where the user has none: that of a device
    EXPECT_EQ(bytes_of(models_of_layers(first.front(), next)), std::multiset<std::string>{"Next"});
    EXPECT_EQ(bytes_of(models_of_layers(first.front(), large)), std::multiset<std::string>{"Large"});
    EXPECT_EQ(models(gpu("Larger than small", "9.0", 96)), "Small");
    EXPECT_EQ(models(gpu("Nearly large", "9.0", 144)), "Large");
    EXPECT_EQ(models(gpu("Next, small", "10.0", 80)), "Next");
    EXPECT_EQ(models(gpu("Of before", "8.0", 80)), "Small");
    EXPECT_EQ(stands_in(nullptr, large), "");
    EXPECT_EQ(
        stands_in(nullptr, gpu("New", "9.0", 96)),
        "no cost model was made on New: those of Small stand in; `gnntune adapt` brings them here, in two minutes");
    Store user = open();
    EXPECT_NE(stands_in(&user, gpu("New", "9.0", 96)), "");
    user.put_model(model("own", Policy::hot));
    EXPECT_EQ(stands_in(&user, gpu("New", "9.0", 96)), "");
    EXPECT_EQ(models(small), "own") << "the user's comes first, whatever it was measured on";
}

TEST_F(Layers, OfShippedFilesTheLargestComesFirst) {
    Store::open(shipped("a.db"), Mode::read_write_create);
    Store::open(shipped("b.db"), Mode::read_write_create).put_model(model(std::string(1 << 20, 'x'), Policy::hot));
    Store::open(shipped("c.db"), Mode::read_write_create);
    EXPECT_EQ(shipped_databases(),
              (std::vector<std::filesystem::path>{shipped("b.db"), shipped("a.db"), shipped("c.db")}));
}

TEST_F(Layers, ConstantsThatTheUserLacksComeFromBelow) {
    Store user = open();
    Store below = Store::open(shipped("a.db"), Mode::read_write_create);
    below.put_device_constant(below.environment_id(environment()), {"copy_gbps", 0, 0, 4200, "GB/s", ""});
    EXPECT_EQ(constants_of_layers(user, environment()).copy_gbps, 4200);
    user.put_device_constant(user.environment_id(environment()), {"copy_gbps", 0, 0, 4000, "GB/s", ""});
    EXPECT_EQ(constants_of_layers(user, environment()).copy_gbps, 4000);
}

TEST_F(Layers, AShippedFileThatIsBrokenIsPassedOver) {
    write_file("shipped/a.db", "no database at all");
    Store::open(shipped("b.db"), Mode::read_write_create).put_model(model("shipped", Policy::hot));
    EXPECT_EQ(bytes_of(models_of_layers(open(), environment())), (std::multiset<std::string>{"shipped"}));
    const auto layers = open_layers(file());
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(layers.back().path(), shipped("b.db"));
}

TEST_F(Layers, WithoutAnyDatabaseTheUsersIsTheOneThatIsMissing) {
    try {
        open_layers(file());
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(file().string()), std::string::npos) << error.what();
    }
}

TEST_F(Layers, AnErrataFileThatIsNoFileIsSaidAndNotWaitedFor) {
    ASSERT_EQ(mkfifo(shipped("errata.txt").c_str(), 0600), 0);
    std::vector<std::string> said;
    EXPECT_EQ(errata_of({}, [&](const std::string& sentence) { said.push_back(sentence); }), nullptr);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(contains(said[0], "errata.txt: the errata that came with the program cannot be read"));
}

std::int64_t bytes_read_so_far() {
    std::ifstream in("/proc/self/io");
    std::string name;
    std::int64_t bytes = 0;
    in >> name >> bytes;
    return name == "rchar:" ? bytes : 0;
}

// Cost models of GPUs are megabytes, which a program on the CPU would read each time it begins.
TEST_F(Layers, WhatIsOfAnotherBackendIsNotRead) {
    constexpr std::size_t kModelBytes = 4 << 20;
    {
        OpenOptions options;
        options.journal = Journal::rollback;
        Store below = Store::open(shipped("a.db"), Mode::read_write_create, options);
        for (const Policy policy : {Policy::hot, Policy::cold}) {
            below.put_model(model(std::string(kModelBytes, 'x'), policy));
        }
        measure(below, 16, 10);
    }
    Environment here = environment();
    const auto read_by = [&] {
        const std::int64_t before = bytes_read_so_far();
        const Snapshot snapshot = Snapshot::load(layers_over(file()), here);
        EXPECT_EQ(snapshot.models().size(), here.backend == Backend::cuda ? 2U : 0U);
        return bytes_read_so_far() - before;
    };
    if (bytes_read_so_far() == 0) GTEST_SKIP() << "this system does not count";
    EXPECT_GT(read_by(), 2 * static_cast<std::int64_t>(kModelBytes));
    here.backend = Backend::cpu;
    here.device_name = "a CPU";
    EXPECT_LT(read_by(), 200'000);
}

}  // namespace
}  // namespace gnntune::store
