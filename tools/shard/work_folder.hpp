// The folder in which several processes share out a tuning:
//
//   work.json     the plan, made by the first
//   units         a line of 64 bytes for each unit of it: how far it is. Read and changed under a lock of this file
//   rank-I.lock   locked while a process is rank I; says which
//   rank-I.db     what rank I has measured
//   rank-I.json   what its GPU took for three problems (sentinels.hpp)
//   merged        the database that has all of it, once that is so
//
// A unit is begun by one process at a time. If that ends in whatever way its lock is gone, and the unit goes to the next
// that asks, which takes in what the other had measured first.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/shard/plan.hpp"
#include "tools/shard/rank.hpp"
#include "tools/shard/shared_file.hpp"

namespace gnntune::tools::shard {

/// A unit that is this process's until it finishes it.
struct Claim {
    std::size_t unit = 0;
    /// Another rank had begun it: what it has measured is to be taken in. It cannot start before this is gone.
    std::optional<int> begun_by;
    std::optional<LockedFile> hold;
};

/// How many units are how far.
struct Counts {
    std::size_t open = 0;
    std::size_t begun = 0;
    std::size_t left = 0;  ///< worked through, and something could not be measured
    std::size_t done = 0;

    std::size_t all() const { return open + begun + left + done; }
    bool worked_through() const { return open + begun == 0; }
};

enum class Ending {
    merged,         ///< by this process
    merged_before,  ///< into the same database
    others_run,     ///< the last of them merges
    unfinished,     ///< nobody else runs, and units are left
    stopped
};

/// All functions throw ErrorKind::input where the folder or a file of it cannot be used, in words.
class WorkFolder {
public:
    /// Makes the folder and becomes the rank. Throws ErrorKind::invalid_argument if another process is that rank, or if
    /// the folder has the plan of another build. `describe` is what others are told of this process; `stop` ends waiting
    /// (interrupted() is true then).
    WorkFolder(std::filesystem::path folder, const Rank& rank, const std::string& build, const std::string& describe,
               std::function<bool()> stop);

    /// The plan of the folder is `mine`, or that of whoever came first. Throws ErrorKind::invalid_argument if they differ.
    /// Returns what is worth a note.
    std::vector<std::string> agree(const Plan& mine);
    const Plan& plan() const { return plan_; }

    std::filesystem::path database() const { return database_of(rank_.index); }
    std::filesystem::path database_of(int rank) const;
    std::filesystem::path sentinels() const;
    /// What every rank that was here has in its rank-I.json, but this one.
    std::vector<std::string> others_sentinels() const;

    /// The next unit; nothing if none is left that is not worked on. `graph` is what this process holds in memory.
    std::optional<Claim> claim(std::optional<std::size_t> graph);
    /// `whole`: all of it was measured. Else it is tried again by whoever starts later.
    void finish(std::size_t unit, bool whole);
    Counts counts();

    /// Is the rank no longer. If all units are worked through and nobody else runs, calls `merge` with the databases of
    /// all ranks, unless that was done for `target`.
    Ending leave(const std::filesystem::path& target,
                 const std::function<void(const std::vector<std::filesystem::path>&)>& merge);

private:
    friend class FinishedWork;
    /// Units of a rank whose database is gone are open.
    static std::vector<Progress> read_table(const LockedFile& file, const std::filesystem::path& path,
                                            std::size_t units);
    std::vector<bool> running(const std::vector<Progress>& progress) const;
    std::optional<LockedFile> lock_table() const;
    std::filesystem::path table_path() const { return folder_ / "units"; }
    void write(LockedFile& table, std::size_t unit, const Progress& progress);

    std::filesystem::path folder_;
    Rank rank_;
    std::function<bool()> stop_;
    std::optional<LockedFile> lock_;  // of the rank
    Plan plan_;
    std::vector<Progress> at_start_;
    std::vector<Progress> progress_;  // as it was seen last
};

/// A folder as `gnntune db merge --from` finds it: nobody may be working in it, and nobody starts while this lives.
class FinishedWork {
public:
    /// Throws ErrorKind::input if it is no such folder, and ErrorKind::invalid_argument if a process works in it.
    FinishedWork(const std::filesystem::path& folder, const std::function<bool()>& stop);

    const std::vector<std::filesystem::path>& databases() const { return databases_; }
    const Counts& counts() const { return counts_; }
    /// By which the choices of all ranks were made.
    const Constraints& constraints() const { return constraints_; }

private:
    std::optional<LockedFile> table_;
    std::vector<std::filesystem::path> databases_;
    Counts counts_;
    Constraints constraints_;
};

}  // namespace gnntune::tools::shard
