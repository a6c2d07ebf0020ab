// Which rank a process is, by what launchers put into its environment.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/tools/shard_fixture.hpp"
#include "tools/shard/rank.hpp"

namespace gnntune::tools::shard {
namespace {

using test::error_of;

Rank in(const std::map<std::string, std::string>& variables, const std::string& text = "auto") {
    return rank_from(text, [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

struct LauncherCase {
    const char* name;
    std::map<std::string, std::string> variables;
    int index;
    std::optional<int> size;
    std::optional<int> local;
};

class LauncherTest : public ::testing::TestWithParam<LauncherCase> {};

TEST_P(LauncherTest, SaysTheRank) {
    const LauncherCase& c = GetParam();
    const Rank rank = in(c.variables);
    EXPECT_EQ(rank.index, c.index);
    EXPECT_EQ(rank.size, c.size);
    EXPECT_EQ(rank.local, c.local);
}

using Map = std::map<std::string, std::string>;
const Map kBatch{{"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}};
const Map kStep{{"SLURM_JOB_ID", "77"},        {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "5"},
                {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_NTASKS", "8"},  {"SLURM_LOCALID", "1"}};
const Map kArray{{"SLURM_ARRAY_TASK_ID", "7"},   {"SLURM_ARRAY_TASK_MIN", "1"},
                 {"SLURM_ARRAY_TASK_STEP", "2"}, {"SLURM_ARRAY_TASK_COUNT", "6"},
                 {"SLURM_ARRAY_TASK_MAX", "11"}, {"SLURM_PROCID", "0"},
                 {"SLURM_NTASKS", "1"}};
Map with(Map a, const Map& b) {
    for (const auto& [name, value] : b) a[name] = value;
    return a;
}

INSTANTIATE_TEST_SUITE_P(
    Shard, LauncherTest,
    ::testing::Values(
        LauncherCase{
            "torchrun", {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}, 3, 8, 1},
        LauncherCase{
            "open_mpi",
            {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}},
            2,
            4,
            0},
        LauncherCase{"mpich", {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}}, 1, 2, 1},
        LauncherCase{"pals", {{"PALS_RANKID", "6"}, {"PMI_SIZE", "8"}, {"PALS_LOCAL_RANKID", "2"}}, 6, 8, 2},
        LauncherCase{"flux", {{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "3"}, {"FLUX_TASK_LOCAL_ID", "0"}}, 1, 3, 0},
        LauncherCase{"gnu_parallel", {{"PARALLEL_SEQ", "4"}, {"PARALLEL_JOBSLOT", "2"}}, 3, std::nullopt, 1},
        LauncherCase{"srun", kStep, 5, 8, 1},
        LauncherCase{"srun_with_pmi2", with(kStep, {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}}), 5, 8, 1},
        LauncherCase{"mpich_in_a_step", with(kStep, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}}),
                     1, 2, 0},
        LauncherCase{"batch_script_alone", kBatch, 0, 1, std::nullopt},
        LauncherCase{"array", kArray, 3, 6, std::nullopt},
        LauncherCase{"array_of_steps",
                     with(kArray, {{"SLURM_STEP_ID", "0"},
                                   {"SLURM_PROCID", "1"},
                                   {"SLURM_STEP_NUM_TASKS", "4"},
                                   {"SLURM_LOCALID", "1"}}),
                     13, 24, 1},
        LauncherCase{"array_of_steps_with_pmi2",
                     with(kArray, {{"SLURM_STEP_ID", "0"},
                                   {"SLURM_PROCID", "1"},
                                   {"SLURM_STEP_NUM_TASKS", "4"},
                                   {"SLURM_LOCALID", "1"},
                                   {"PMI_RANK", "1"},
                                   {"PMI_SIZE", "4"}}),
                     13, 24, 1},
        LauncherCase{
            "ray_train_has_the_names_of_torchrun", {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}}, 0, 2, 0},
        LauncherCase{"torchrun_in_srun", with(kStep, {{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}}), 9, 16,
                     1},
        LauncherCase{"gnu_parallel_in_a_batch_script", with(kBatch, {{"PARALLEL_SEQ", "2"}, {"PARALLEL_JOBSLOT", "2"}}),
                     1, std::nullopt, 1}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(ShardRank, IsSaidByHand) {
    const Rank rank = in({{"RANK", "1"}, {"WORLD_SIZE", "2"}}, "3/4");
    EXPECT_EQ(rank.index, 3);
    EXPECT_EQ(rank.size, 4);
    EXPECT_EQ(to_text(rank), "rank 3 of 4");
    for (const char* text : {"4/4", "1", "-1/2", "a/b", "1/", "/2", "1/2/3", "0/0", "", "1 /2"}) {
        EXPECT_HAS(error_of(ErrorKind::invalid_argument, [&] { in({}, text); }), "expected auto or I/N");
    }
}

TEST(ShardRank, RefusesWhatIsNoRank) {
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [] { in({}); }), "nothing in the environment says");
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [] { in({{"RANK", "1"}}); }), "nothing in the environment says");
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [] { in({{"RANK", "x"}, {"WORLD_SIZE", "2"}}); }), "RANK is 'x'");
    EXPECT_HAS(error_of(ErrorKind::invalid_argument,
                        [] {
                            in({{"RANK", "2"}, {"WORLD_SIZE", "2"}});
                        }),
               "which is none");
    Map gaps = kArray;
    gaps["SLURM_ARRAY_TASK_ID"] = "8";
    EXPECT_HAS(error_of(ErrorKind::invalid_argument, [&] { in(gaps); }), "array with gaps");
}

}  // namespace
}  // namespace gnntune::tools::shard
