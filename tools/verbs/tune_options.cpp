#include "tools/verbs/tune_options.hpp"

#include "core/common/error.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/steps.hpp"

namespace gnntune::tools {

Options tune_options() {
    Options options(
        "tune", {"gnntune tune [options] GRAPH...",
                 "Searches the configs of every applicable variant: checks those that promise most against the oracle, "
                 "times those that pass, stores all of it and the choice for each problem. Stops and goes on where it "
                 "stopped: what the database has is not measured again.",
                 {"gnntune tune data/cora.mtx.gz --dim 16,64", "gnntune tune graphs/ --op spmm,sddmm --budget 5m",
                  "gnntune tune @list.txt --policy both --db mine.db", "gnntune tune standin/ogbn_arxiv --dry-run",
                  "gnntune tune data/cora.mtx.gz --step gcn --dim 64,7 --format-limit 1MiB",
                  "srun gnntune tune --shard auto --work work/ graphs/ --db all.db"}});
    add_problem_options(options, "16,32,64,128,256");
    add_timing_options(options);
    add_constraint_options(options);
    add_step_options(options);
    // clang-format off
    options.group("Search").add_options()
        ("variant", value("LIST"), "these variants only, their default configs never given up early")
        ("exhaustive", boost::program_options::bool_switch(), "measure every config, not only promising ones")
        ("max-configs", value("N"), "most configs of a search for each problem, beside the library's default")
        ("budget", value("TIME"), "stop after this time, such as 30s or 5m")
        ("max-samples", value("N", "100"), "most timed calls per config")
        ("counters", boost::program_options::bool_switch(),
         "read the hardware counters of what was chosen, and store them (gnntune profile)")
        ("again", boost::program_options::bool_switch(), "measure once more what the database has")
        ("dry-run", boost::program_options::bool_switch(), "print what would be done and stop");
    // clang-format on
    // clang-format off
    options.group("Several processes").add_options()
        ("shard", value("WHICH"), "this is rank I of N, I/N, or auto: what the launcher says (docs/scaling.md)")
        ("work", value("DIR"), "folder in which the ranks share out the graphs; the last of them merges into --db");
    // clang-format on
    add_exclusive_options(options);
    add_graph_options(options);
    return options;
}

void read_extent(const Parsed& parsed, tuner::TuneOptions& tune) {
    tune.again = parsed.flag("again");
    tune.exhaustive = parsed.flag("exhaustive");
    const auto most = parsed.integer("max-configs", 1, 1000000);
    if (most && tune.exhaustive) {
        throw invalid_argument(
            "--max-configs limits a search, and --exhaustive measures every config: give one of them");
    }
    tune.max_configs = static_cast<std::size_t>(most.value_or(0));
    tune.seed = parsed.common.seed;
}

}  // namespace gnntune::tools
