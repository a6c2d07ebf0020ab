// A file that is removed, renamed or replaced while a store has it open: said at the next commit, and nothing is lost.
#include <map>
#include <optional>

#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

class StoreMoved : public StoreTest, public testing::WithParamInterface<Journal> {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        fs::create_directory(file("van"));
        OpenOptions options;
        options.journal = GetParam();
        store_.emplace(Store::open(path(), Mode::read_write_create, options));
        run_ = store_->begin_run(run_info());
        key_ = key_in(*store_);
        store_->add_measurement(run_, key_, measurement("spmm.before", 1));
    }
    fs::path path() const { return file("van/x.db"); }

    /// The sentence that says where everything is, after a measurement that comes too late.
    std::string save() {
        EXPECT_TRUE(contains(
            error_of(ErrorKind::database, [&] { store_->add_measurement(run_, key_, measurement("spmm.after", 2)); }),
            "was removed, renamed or replaced while it was in use"));
        const std::string words = store_->save_elsewhere();
        store_.reset();
        return words;
    }
    static void expect_everything(const fs::path& database) {
        const Store saved = Store::open(database, Mode::read_only);
        EXPECT_EQ(saved.check(), std::vector<std::string>{});
        std::map<std::string, int> configs;
        for (const Measurement& m : saved.measurements({1, 1, 1})) ++configs[m.config.text()];
        EXPECT_EQ(configs, (std::map<std::string, int>{{"spmm.before", 1}, {"spmm.after", 1}}));
    }
    /// The database that a sentence names behind "is in".
    static fs::path named_in(const std::string& words) {
        const auto at = words.find(" is in ") + 7;
        return words.substr(at, words.find(';', at) - at);
    }
    /// As the command says that the sentence ends with.
    void expect_saved(const std::string& words) const {
        const fs::path saved = named_in(words);
        EXPECT_TRUE(contains(words, "gnntune db merge " + saved.string() + " --db " + path().string()));
        expect_everything(saved);
        for (const char* side : {"", "-wal", "-shm"}) fs::remove(saved.string() + side);
    }

    std::optional<Store> store_;
    std::int64_t run_ = 0;
    Key key_;
};

INSTANTIATE_TEST_SUITE_P(Journals, StoreMoved, testing::Values(Journal::wal, Journal::rollback),
                         [](const auto& which) { return which.param == Journal::wal ? "Log" : "Rollback"; });

TEST_P(StoreMoved, StayingNothingIsSaid) {
    EXPECT_FALSE(store_->database().has_moved());
    store_->add_measurement(run_, key_, measurement("spmm.after", 2));
    store_.reset();
    expect_everything(path());
}

TEST_P(StoreMoved, ARemovedFileIsCopiedBesideIt) {
    fs::remove(path());
    const std::string words = save();
    EXPECT_EQ(named_in(words).parent_path(), fs::canonical(file("van")));
    EXPECT_FALSE(fs::exists(path().string() + "-wal")) << "a later file of that name would take it for its own";
    expect_saved(words);
}

TEST_P(StoreMoved, OfARemovedFolderTheFileIsCopiedElsewhere) {
    fs::remove_all(file("van"));
    const std::string words = save();
    EXPECT_TRUE(contains(words, "take it in with: mkdir -p " + file("van").string() + " && gnntune db merge "));
    expect_saved(words);
}

TEST_P(StoreMoved, ARenamedFileHasEverything) {
    fs::rename(path(), file("van/moved.db"));
    EXPECT_TRUE(contains(save(), "it is " + fs::canonical(file("van/moved.db")).string() + " now"));
    EXPECT_FALSE(fs::exists(path().string() + "-wal"));
    expect_everything(file("van/moved.db"));
}

TEST_P(StoreMoved, InARenamedFolderItHasEverything) {
    fs::rename(file("van"), file("lorry"));
    EXPECT_TRUE(contains(save(), "it is " + fs::canonical(file("lorry/x.db")).string() + " now"));
    expect_everything(file("lorry/x.db"));
}

TEST_P(StoreMoved, AnotherFileInItsPlaceStaysAsItIs) {
    {
        Store other = Store::open(file("other.db"), Mode::read_write_create);
        other.graph_id(graph("another", 2));
    }
    fs::rename(file("other.db"), path());
    const std::string words = save();
    expect_saved(words);
    const Store other = Store::open(path(), Mode::read_only);
    EXPECT_EQ(other.check(), std::vector<std::string>{});
    ASSERT_EQ(other.graphs().size(), 1U);
    EXPECT_EQ(other.graphs()[0].record.name, "another");
    EXPECT_EQ(other.runs().size(), 0U);
}

}  // namespace
}  // namespace gnntune::store
