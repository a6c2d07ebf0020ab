// One of several processes that share out a `gnntune tune`: its rank, its GPU, its database, and which graphs and problems
// it takes up. The rules are in tools/shard/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/graphs.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"
#include "tools/shard/sentinels.hpp"
#include "tools/shard/work_folder.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {

class TuneShard {
public:
    /// Nothing without --shard. Throws ErrorKind::invalid_argument where one of --shard and --work is missing, or with
    /// --dry-run.
    static std::optional<TuneShard> from(const Parsed& parsed, Output& out);

    /// That of --device; of several GPUs that this process sees, the one of its local rank.
    Device device() const;
    /// This rank's own. Where it is not there yet it is a copy of that of --db, so that what that has is not measured again.
    std::filesystem::path database() const;
    /// What a run has as its host: device, UUID, rank and machine. Ranks of one host stay apart by it.
    std::string host(const Device& device) const;

    /// Makes the units, or finds that another rank has made the same. `together`: all problems of a graph are one.
    void agree(const Device& device, const tuner::TuneOptions& options, bool together,
               const std::vector<GraphArgument>& graphs);
    /// Whether nothing is left for anybody.
    bool all_done();
    /// Times the sentinels, and warns if the device's speed is not that of the others'.
    void time_sentinels(const Device& device, Clock clock);

    /// The next unit of `graph`, which is held in memory, or of another; takes into `store` what a rank that ended has
    /// measured of it.
    std::optional<shard::Unit> next(store::Store& store, std::optional<std::size_t> graph);
    /// The last unit of next() is worked through. `whole`: nothing of it is left out.
    void finish(bool whole);

    /// To be called when this rank's database is closed: merges if this is the last rank, and says how far all is. False
    /// if units are left and nobody works on them.
    bool leave();

private:
    TuneShard(const Parsed& parsed, Output& out);
    void compare_sentinels();

    const Parsed* parsed_;
    Output* out_;
    shard::Rank rank_;
    std::optional<shard::WorkFolder> folder_;
    std::optional<std::size_t> unit_;
    std::optional<shard::Sentinels> sentinels_;
    double margin_ = 0;
};

/// Problems that one process has to measure, since configs of one are parts of another's: indices into `problems`.
std::vector<std::vector<std::size_t>> problems_together(const std::vector<Problem>& problems, const Device& device);

}  // namespace gnntune::tools
