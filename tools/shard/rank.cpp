#include "tools/shard/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "core/common/error.hpp"

namespace gnntune::tools::shard {
namespace {

constexpr int kMostRanks = 100'000;
constexpr const char* kByHand = "say which with --shard I/N";

std::optional<int> number(std::string_view text) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc() || stop != end || value < 0 || value > kMostRanks) return std::nullopt;
    return value;
}

/// Where a launcher says what. Null: it does not.
struct Launcher {
    const char* rank;
    const char* size;
    const char* local;
    const char* local_size;
    int first = 0;  ///< that it counts from
};

// Those that are started inside others stand before them: torchrun and GNU parallel in a job of Slurm.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"PARALLEL_SEQ", nullptr, "PARALLEL_JOBSLOT", nullptr, 1},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", nullptr},
};

class Environment {
public:
    explicit Environment(const Variables& variable) : variable_(variable) {}

    bool has(const char* name) const {
        const char* text = name ? variable_(name) : nullptr;
        return text && *text;
    }
    std::optional<int> find(const char* name) const {
        if (!has(name)) return std::nullopt;
        const auto value = number(variable_(name));
        if (!value) {
            throw invalid_argument(fmt::format("--shard auto: {} is '{}', expected a number from 0 to {}; {}", name,
                                               variable_(name), kMostRanks, kByHand));
        }
        return value;
    }

private:
    const Variables& variable_;
};

/// Of a variable that counts from `first`.
std::optional<int> counted(const Environment& environment, const char* name, int first) {
    auto value = environment.find(name);
    if (value) *value -= first;
    return value;
}

/// srun with PMI-2 sets these variables too, but for the local rank. Its own say that as well, and know of arrays.
bool is_of_srun(const Launcher& launcher, const Environment& environment) {
    return std::string_view(launcher.rank) == "PMI_RANK" && environment.has("SLURM_STEP_ID") &&
           environment.has("SLURM_PROCID") && !environment.has(launcher.local);
}

std::optional<Rank> rank_of(const Launcher& launcher, const Environment& environment) {
    if (!environment.has(launcher.rank) || (launcher.size && !environment.has(launcher.size))) return std::nullopt;
    if (is_of_srun(launcher, environment)) return std::nullopt;
    Rank rank;
    rank.index = *counted(environment, launcher.rank, launcher.first);
    rank.size = environment.find(launcher.size);
    rank.local = counted(environment, launcher.local, launcher.first);
    rank.local_size = environment.find(launcher.local_size);
    rank.source = launcher.size ? fmt::format("{} and {}", launcher.rank, launcher.size) : launcher.rank;
    return rank;
}

/// A step of srun has a rank for each of its tasks, a batch script has rank 0 and is alone, a task of an array is one of
/// as many as the array has, each of which may have a step.
std::optional<Rank> rank_of_slurm(const Environment& environment) {
    const bool array = environment.has("SLURM_ARRAY_TASK_ID") && environment.has("SLURM_ARRAY_TASK_COUNT");
    if (!environment.has("SLURM_PROCID") && !array) return std::nullopt;
    const bool step = environment.has("SLURM_STEP_ID");
    const auto of_step = environment.find("SLURM_STEP_NUM_TASKS");
    const int tasks = step ? of_step.value_or(environment.find("SLURM_NTASKS").value_or(1)) : 1;
    Rank rank;
    rank.index = step ? environment.find("SLURM_PROCID").value_or(0) : 0;
    rank.size = tasks;
    if (step) rank.local = environment.find("SLURM_LOCALID");
    rank.source = step ? "SLURM_PROCID and SLURM_STEP_NUM_TASKS" : "a batch script of Slurm, one process";
    if (array) {
        const int id = *environment.find("SLURM_ARRAY_TASK_ID");
        const int least = environment.find("SLURM_ARRAY_TASK_MIN").value_or(0);
        const int stride = std::max(1, environment.find("SLURM_ARRAY_TASK_STEP").value_or(1));
        const int count = *environment.find("SLURM_ARRAY_TASK_COUNT");
        if (id < least || (id - least) % stride != 0 || (id - least) / stride >= count) {
            throw invalid_argument(
                fmt::format("--shard auto: SLURM_ARRAY_TASK_ID {} is none of {} tasks from {} by {}: an array with "
                            "gaps says no rank; {}",
                            id, count, least, stride, kByHand));
        }
        rank.index += (id - least) / stride * tasks;
        rank.size = tasks * count;
        rank.source = step ? "SLURM_ARRAY_TASK_ID and SLURM_PROCID" : "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT";
    }
    return rank;
}

Rank rank_by_hand(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto index = number(std::string_view(text).substr(0, slash));
    const auto size = slash == std::string::npos ? std::nullopt : number(std::string_view(text).substr(slash + 1));
    if (!index || !size || *index >= *size) {
        throw invalid_argument(
            fmt::format("--shard: expected auto or I/N with I from 0 to N-1, such as 0/4 to 3/4, not '{}'", text));
    }
    return {*index, size, std::nullopt, std::nullopt, "--shard"};
}

}  // namespace

std::string to_text(const Rank& rank) {
    return rank.size ? fmt::format("rank {} of {}", rank.index, *rank.size) : fmt::format("rank {}", rank.index);
}

Rank rank_from(const std::string& text, const Variables& variable) {
    if (text != "auto") return rank_by_hand(text);
    const Environment environment(variable);
    std::optional<Rank> rank;
    for (auto launcher = std::begin(kLaunchers); !rank && launcher != std::end(kLaunchers); ++launcher) {
        rank = rank_of(*launcher, environment);
    }
    if (!rank) rank = rank_of_slurm(environment);
    if (!rank) {
        throw invalid_argument(
            fmt::format("--shard auto: nothing in the environment says which rank this is (looked for RANK and "
                        "WORLD_SIZE, those of "
                        "Open MPI, PMI, PALS and Flux, PARALLEL_SEQ, SLURM_PROCID and SLURM_ARRAY_TASK_ID); {}",
                        kByHand));
    }
    if (rank->index < 0 || (rank->size && rank->index >= *rank->size)) {
        throw invalid_argument(fmt::format("--shard auto: {} say rank {} of {}, which is none; {}", rank->source,
                                           rank->index, rank->size.value_or(0), kByHand));
    }
    return *rank;
}

}  // namespace gnntune::tools::shard
