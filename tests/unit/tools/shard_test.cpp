// Units, claims and sentinels of `gnntune tune --shard`.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "core/common/error.hpp"
#include "tests/unit/common/child_process.hpp"
#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/tools/shard_fixture.hpp"
#include "tools/shard/plan.hpp"
#include "tools/shard/rank.hpp"
#include "tools/shard/sentinels.hpp"
#include "tools/shard/shared_file.hpp"
#include "tools/shard/work_folder.hpp"

namespace gnntune::tools::shard {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::in_child;
using test::TemporaryFolder;
using test::wait_for;

// --- Units ---

Plan plan_of(const std::vector<std::vector<double>>& costs) {
    Plan plan;
    plan.build = "gnntune 1";
    plan.device = "a device";
    plan.options = "--dim 16";
    plan.ranks = 4;
    for (std::size_t g = 0; g < costs.size(); ++g) {
        plan.graphs.push_back({"graph" + std::to_string(g), 100});
        for (std::size_t p = 0; p < costs[g].size(); ++p) plan.units.push_back({g, {p}, costs[g][p]});
    }
    return plan;
}

TEST(ShardPlan, StaysItselfInAFile) {
    Plan plan = plan_of({{1, 2}, {3}});
    plan.constraints.deterministic = true;
    plan.constraints.workspace_limit_bytes = 12345;
    plan.graphs[1].source = "caf\xe9.mtx";  // no UTF-8
    const Plan again = plan_from(to_json(plan), "work.json");
    EXPECT_EQ(difference(again, plan), "");
    EXPECT_EQ(again.constraints, plan.constraints);
    ASSERT_EQ(again.units.size(), 3u);
    EXPECT_EQ(again.units[1].problems, std::vector<std::size_t>{1});
    EXPECT_EQ(again.units[2].cost, 3);
    EXPECT_HAS(error_of(ErrorKind::input, [] { plan_from("{}", "work.json"); }), "work.json is no plan");
    EXPECT_HAS(error_of(ErrorKind::input, [] { plan_from("", "work.json"); }), "name another folder with --work");
}

TEST(ShardPlan, SaysWhatDiffers) {
    const Plan plan = plan_of({{1}, {2}});
    const auto changed = [&](auto&& change) {
        Plan other = plan;
        change(other);
        return difference(plan, other);
    };
    EXPECT_EQ(changed([](Plan& p) { p.ranks = 9; }), "");
    EXPECT_EQ(changed([](Plan& p) { p.build = "gnntune 2"; }), "is of gnntune 1, and this is gnntune 2");
    EXPECT_HAS(changed([](Plan& p) { p.device = "another"; }), "this rank has [another]");
    EXPECT_HAS(changed([](Plan& p) { p.options = "--dim 32"; }), "`--dim 16`, and this call has `--dim 32`");
    EXPECT_HAS(changed([](Plan& p) { p.graphs[1].source = "b"; }), "graph1 as graph 2, and this call b");
    EXPECT_HAS(changed([](Plan& p) { p.graphs[1].bytes = 7; }), "had 100 bytes, and now it has 7");
    EXPECT_HAS(changed([](Plan& p) { p.graphs.pop_back(), p.units.pop_back(); }), "has 2 graphs, and this call 1");
}

TEST(ShardPlan, GuessesEdgesByTheFile) {
    EXPECT_EQ(guessed_edges("a.gnng", 5000), 1000);
    EXPECT_EQ(guessed_edges("a.mtx", 12000), 1000);
    EXPECT_EQ(guessed_edges("a.mtx.gz", 3000), 1000);
    EXPECT_GT(guessed_cost(1e6, 64), guessed_cost(1e6, 32));
    EXPECT_GT(guessed_cost(2e6, 32), guessed_cost(1e6, 32));
}

TEST(ShardUnits, GoFromTheLargestGraphAndStayWithIt) {
    const Plan plan = plan_of({{1, 1}, {5, 9, 2}, {8}});
    std::vector<Progress> progress(6);
    Outlook me;
    EXPECT_EQ(next_unit(plan, progress, me), 3u);  // the largest unit of the largest graph
    progress[3] = {State::begun, 1, 1};
    me.running = {false, true};
    EXPECT_EQ(next_unit(plan, progress, me), 5u);  // nobody works on graph 2
    me.graph = 1;
    EXPECT_EQ(next_unit(plan, progress, me), 2u);  // it is held
    me.graph = 2;
    progress[5] = {State::done, 0, 1};
    EXPECT_EQ(next_unit(plan, progress, me), 0u);
    progress[0] = progress[1] = {State::done, 0, 1};
    EXPECT_EQ(next_unit(plan, progress, me), 2u);  // helps
    progress[2] = progress[4] = {State::done, 0, 1};
    EXPECT_EQ(next_unit(plan, progress, me), std::nullopt);  // rank 1 works on the last
    me.running[1] = false;
    EXPECT_EQ(next_unit(plan, progress, me), 3u);
}

TEST(ShardUnits, OwnComeFirstAndThoseLeftAreTriedAgainLater) {
    const Plan plan = plan_of({{9}, {1}, {5}});
    std::vector<Progress> progress{{State::open, 0, 0}, {State::begun, 0, 1}, {State::left, 2, 1}};
    Outlook me;
    EXPECT_EQ(next_unit(plan, progress, me), 1u);
    progress[0] = progress[1] = {State::done, 0, 1};
    EXPECT_EQ(next_unit(plan, progress, me), std::nullopt);
    const std::vector<Progress> before = progress;
    me.at_start = &before;
    EXPECT_EQ(next_unit(plan, progress, me), 2u);
    progress[2] = {State::left, 0, 2};  // was tried again, with no more luck
    EXPECT_EQ(next_unit(plan, progress, me), std::nullopt);
}

// --- The folder ---

Rank rank(int index, int size = 4) {
    Rank r;
    r.index = index;
    r.size = size;
    return r;
}

WorkFolder work(const fs::path& folder, int index, const Plan& plan, int size = 4) {
    WorkFolder out(folder, rank(index, size), plan.build, "process of a test", {});
    out.agree(plan);
    return out;
}

TEST(ShardFolder, GivesEachUnitToOneRank) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1, 2}, {3}, {4, 4}});
    WorkFolder a = work(folder.path() / "w", 0, plan);
    WorkFolder b = work(folder.path() / "w", 1, plan);
    std::set<std::size_t> seen;
    for (int i = 0; i < 5; ++i) {
        const auto claim = (i % 2 ? a : b).claim({});
        ASSERT_TRUE(claim);
        EXPECT_TRUE(seen.insert(claim->unit).second);
        (i % 2 ? a : b).finish(claim->unit, i != 4);
    }
    EXPECT_FALSE(a.claim({}));
    EXPECT_FALSE(b.claim({}));
    const Counts counts = a.counts();
    EXPECT_EQ(counts.done, 4u);
    EXPECT_EQ(counts.left, 1u);
    EXPECT_TRUE(counts.worked_through());
}

TEST(ShardFolder, MergesOnceAndWithTheLast) {
    const TemporaryFolder folder;
    const fs::path target = folder.path() / "all.db";
    const Plan plan = plan_of({{1}, {2}});
    std::vector<fs::path> merged;
    const auto merge = [&](const std::vector<fs::path>& databases) {
        merged = databases;
        std::ofstream(target) << "rows";
    };
    {
        WorkFolder a = work(folder.path(), 0, plan);
        WorkFolder b = work(folder.path(), 1, plan);
        for (WorkFolder* one : {&a, &b}) {
            std::ofstream(one->database()) << "rows";
            one->finish(one->claim({})->unit, true);
        }
        EXPECT_EQ(a.leave(target, merge), Ending::others_run);
        EXPECT_TRUE(merged.empty());
        EXPECT_EQ(b.leave(target, merge), Ending::merged);
        EXPECT_EQ(merged, (std::vector<fs::path>{folder.path() / "rank-0.db", folder.path() / "rank-1.db"}));
    }
    merged.clear();
    EXPECT_EQ(work(folder.path(), 0, plan).leave(target, merge), Ending::merged_before);
    EXPECT_TRUE(merged.empty());
    EXPECT_EQ(work(folder.path(), 0, plan).leave(folder.path() / "other.db", merge), Ending::merged);
    EXPECT_EQ(merged.size(), 2u);
    fs::remove(target);
    EXPECT_EQ(work(folder.path(), 0, plan).leave(target, merge), Ending::merged);
    const FinishedWork finished(folder.path(), {});
    EXPECT_EQ(finished.databases().size(), 2u);
    EXPECT_EQ(finished.counts().done, 2u);
}

TEST(ShardFolder, AFailedMergeIsTriedAgain) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}});
    WorkFolder a = work(folder.path(), 0, plan);
    std::ofstream(a.database()) << "rows";
    a.finish(a.claim({})->unit, true);
    EXPECT_THROW(a.leave("all.db", [](const auto&) { throw database_error("damaged"); }), Error);
    bool merged = false;
    EXPECT_EQ(work(folder.path(), 1, plan).leave("all.db", [&](const auto&) { merged = true; }), Ending::merged);
    EXPECT_TRUE(merged);
}

TEST(ShardFolder, WhatARankMeasuredAndIsGoneIsMeasuredAgain) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}, {2}, {3}});
    for (const int index : {0, 1, 0}) {
        WorkFolder one = work(folder.path(), index, plan);
        std::ofstream(one.database()) << "rows";
        one.finish(one.claim({})->unit, true);
    }
    fs::remove(folder.path() / "rank-0.db");
    EXPECT_EQ(FinishedWork(folder.path(), {}).counts().open, 2u);
    EXPECT_EQ(work(folder.path(), 2, plan).leave("all.db", [](const auto&) { FAIL(); }), Ending::unfinished);
    WorkFolder other = work(folder.path(), 3, plan);
    std::ofstream(other.database()) << "rows";
    for (int i = 0; i < 2; ++i) {
        const auto claim = other.claim({});
        ASSERT_TRUE(claim);
        other.finish(claim->unit, true);
    }
    EXPECT_FALSE(other.claim({}));
    bool merged = false;
    EXPECT_EQ(other.leave("all.db", [&](const auto&) { merged = true; }), Ending::merged);
    EXPECT_TRUE(merged);
}

TEST(ShardFolder, WhatIsUnfinishedIsNotMerged) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}, {2}});
    WorkFolder a = work(folder.path(), 0, plan);
    a.finish(a.claim({})->unit, true);
    ASSERT_TRUE(a.claim({}));
    EXPECT_EQ(a.leave("all.db", [](const auto&) { FAIL(); }), Ending::unfinished);
}

TEST(ShardFolder, ARankIsOneProcess) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}});
    WorkFolder a = work(folder.path(), 2, plan);
    const std::string words = error_of(ErrorKind::invalid_argument, [&] { work(folder.path(), 2, plan); });
    EXPECT_HAS(words, "rank 2 runs already");
    EXPECT_HAS(words, "process of a test");
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [&] { FinishedWork(folder.path(), {}); }), "rank 2 runs");
}

TEST(ShardFolder, RefusesAnotherBuildAndOtherOptions) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}});
    work(folder.path(), 0, plan);
    Plan other = plan;
    other.build = "gnntune 2";
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [&] { work(folder.path(), 0, other); }), "go on with that build");
    EXPECT_FALSE(fs::exists(folder.path() / "rank-1.lock"));
    other = plan;
    other.options = "--dim 64";
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [&] { work(folder.path(), 0, other); }), "--dim 64");
}

TEST(ShardFolder, GoesOnWithAnotherNumberOfRanks) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}});
    work(folder.path(), 3, plan);
    WorkFolder fewer(folder.path(), rank(0, 2), plan.build, "", {});
    const auto notes = fewer.agree(plan);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_HAS(notes.front(), "begun by 4 ranks, and now there are 2");
    EXPECT_TRUE(fewer.claim({}));
}

TEST(ShardFolder, SaysWhatCannotBeWritten) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "file";
    std::ofstream(file) << "no folder";
    const Plan plan = plan_of({{1}});
    EXPECT_HAS(error_of(ErrorKind::input, [&] { work(file, 0, plan); }), "cannot be made");
    EXPECT_HAS(error_of(ErrorKind::input, [&] { work(file / "below", 0, plan); }),
               "name a folder that this user may write");
    EXPECT_HAS(error_of(ErrorKind::input, [&] { FinishedWork(folder.path(), {}); }), "it has no work.json");
    std::ofstream(folder.path() / "work.json") << "{}";
    EXPECT_HAS(error_of(ErrorKind::input, [&] { work(folder.path(), 0, plan); }), "is no plan");
}

TEST(ShardFolder, AFullDiskIsSaidAndNothingIsLost) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}});
    work(folder.path(), 0, plan);
    const pid_t child = in_child([&] {
        WorkFolder a = work(folder.path(), 0, plan);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{0, 0};
        setrlimit(RLIMIT_FSIZE, &none);
        try {
            (void)a.claim({});
        } catch (const Error& e) {
            const std::string words = e.what();
            if (words.find("make room; the same command goes on") != std::string::npos) return;
            throw;
        }
        throw std::runtime_error("a claim was written on a full disk");
    });
    EXPECT_EQ(wait_for(child), 0);
    WorkFolder a = work(folder.path(), 0, plan);
    EXPECT_EQ(a.counts().open, 1u);
}

TEST(ShardFolder, ADamagedTableIsSaid) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}, {2}});
    work(folder.path(), 0, plan);
    {
        std::fstream table(folder.path() / "units", std::ios::in | std::ios::out);
        table.seekp(64 + 12);
        table << "gone!";
    }
    EXPECT_HAS(error_of(ErrorKind::input, [&] { work(folder.path(), 0, plan); }), "units line 2");
    fs::resize_file(folder.path() / "units", 100);  // whoever made it was killed
    EXPECT_EQ(work(folder.path(), 0, plan).counts().open, 2u);
}

TEST(ShardFolder, AKilledRanksUnitGoesToAnother) {
    const TemporaryFolder folder;
    const Plan plan = plan_of({{1}, {2}});
    const pid_t child = in_child([&] {
        WorkFolder a = work(folder.path(), 1, plan);
        (void)a.claim({});
        std::ofstream(a.database()) << "rows";
        kill(getpid(), SIGKILL);
    });
    EXPECT_EQ(wait_for(child), -SIGKILL);
    WorkFolder b = work(folder.path(), 0, plan);
    EXPECT_EQ(b.counts().begun, 1u);
    {
        const auto claim = b.claim({});
        ASSERT_TRUE(claim);
        EXPECT_EQ(claim->unit, 1u);
        EXPECT_EQ(claim->begun_by, 1);
        // While its rows are taken in it cannot start, and nobody complains of a second process.
        const pid_t again = in_child([&] { work(folder.path(), 1, plan); });
        usleep(100'000);
        EXPECT_EQ(waitpid(again, nullptr, WNOHANG), 0);
        kill(again, SIGKILL);
        EXPECT_EQ(wait_for(again), -SIGKILL);
    }
    b.finish(1, true);
    WorkFolder a = work(folder.path(), 1, plan);
    EXPECT_EQ(a.claim({})->unit, 0u);
    EXPECT_FALSE(b.claim({}));
}

// Eight processes take units until none is left, each killed after some; what a killed one had begun is done by others.
TEST(ShardFolder, ManyProcessesDoEachUnitOnce) {
    const TemporaryFolder folder;
    std::vector<std::vector<double>> costs(20, {1, 2, 3});
    const Plan plan = plan_of(costs);
    std::vector<pid_t> children;
    for (int r = 0; r < 8; ++r) {
        children.push_back(in_child([&] {
            WorkFolder mine = work(folder.path(), r, plan, 8);
            std::ofstream(mine.database()) << "rows";
            std::optional<std::size_t> graph;
            for (int i = 0;; ++i) {
                const auto claim = mine.claim(graph);
                if (!claim) break;
                if (r < 4 && i == 3) kill(getpid(), SIGKILL);
                usleep(500);
                graph = plan.units[claim->unit].graph;
                std::ofstream(folder.path() / ("log-" + std::to_string(r)), std::ios::app) << claim->unit << "\n";
                mine.finish(claim->unit, true);
            }
        }));
    }
    int killed = 0;
    for (const pid_t child : children) {
        const int code = wait_for(child);
        killed += code == -SIGKILL ? 1 : 0;
        EXPECT_TRUE(code == 0 || code == -SIGKILL) << code;
    }
    EXPECT_GT(killed, 0);
    WorkFolder last = work(folder.path(), 0, plan, 8);
    while (const auto claim = last.claim({})) {
        EXPECT_TRUE(claim->begun_by || claim->unit < plan.units.size());
        std::ofstream(folder.path() / "log-0", std::ios::app) << claim->unit << "\n";
        last.finish(claim->unit, true);
    }
    std::multiset<std::size_t> done;
    for (int r = 0; r < 8; ++r) {
        std::ifstream log(folder.path() / ("log-" + std::to_string(r)));
        for (std::size_t unit = 0; log >> unit;) done.insert(unit);
    }
    EXPECT_EQ(done.size(), plan.units.size());
    EXPECT_EQ(std::set<std::size_t>(done.begin(), done.end()).size(), plan.units.size());
}

// --- Sentinels ---

Sentinels sentinels(int rank, double launch_us, double cache_us, double memory_us) {
    Sentinels s;
    s.rank = rank;
    s.host = "node" + std::to_string(rank);
    s.device = "NVIDIA H200 GPU-" + std::to_string(rank);
    s.launch_us = launch_us;
    s.cache_us = cache_us;
    s.memory_us = memory_us;
    return s;
}

TEST(ShardSentinels, SayWhatIsOff) {
    const std::vector<Sentinels> others{sentinels(1, 4, 50, 200), sentinels(2, 4, 51, 201), sentinels(3, 4.1, 49, 199)};
    EXPECT_EQ(off_words(sentinels(0, 4.15, 50.9, 203.9), others, 0.02), "");
    const std::string slow = off_words(sentinels(0, 4, 50, 208), others, 0.02);
    EXPECT_HAS(slow, "NVIDIA H200 GPU-0 of rank 0 on node0");
    EXPECT_HAS(slow, "reading from memory takes 208.00 us, 4.0 % more than 200.00 us");
    EXPECT_EQ(slow.find("cache"), std::string::npos);
    EXPECT_HAS(off_words(sentinels(0, 4, 45, 200), others, 0.02), "10.0 % less");
    EXPECT_EQ(off_words(sentinels(0, 4, 45, 200), {}, 0.02), "");
    EXPECT_EQ(off_words(sentinels(0, 0, 0, 0), others, 0.02), "");  // no times were to be had
}

TEST(ShardSentinels, StayThemselvesInAFile) {
    Sentinels s = sentinels(3, 4.25, 50.5, 200);
    s.sm_clock_mhz = 1980;
    const auto again = sentinels_from(to_json(s));
    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(s));
    EXPECT_EQ(sentinels_from("{}"), std::nullopt);
    EXPECT_EQ(sentinels_from("what"), std::nullopt);
}

}  // namespace
}  // namespace gnntune::tools::shard
