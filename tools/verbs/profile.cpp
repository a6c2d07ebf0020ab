// gnntune profile: the hardware counters of a config beside what it was expected to move.
#include <fmt/format.h>

#include <limits>

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/profile_report.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tools/verbs/held_graph.hpp"
#include "tuner/profile.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kProfileUsage = "gnntune profile [options] GRAPH...";

Options profile_options() {
    Options options("profile",
                    {kProfileUsage,
                     "Reads the hardware counters of a config in a replay of its own: bytes from DRAM and L2, hits, "
                     "occupancy, issue, tensor cores, atomics. Shows them beside the bytes expected, and says what "
                     "binds. Stored with the measurement of the config, which is taken first if there is none.",
                     {"gnntune profile data/cora.mtx.gz --dim 64",
                      "gnntune profile graph.mtx --config 'spmm.gas{block_size=128}' --config spmm.gar --dim 128",
                      "gnntune profile graph.mtx --op sddmm --csv"}});
    add_problem_options(options, "64");
    // clang-format off
    options.group("What").add_options()
        ("config", values("CONFIG"), "this config; params that are left out have their defaults. A variant alone: the "
         "fastest of its configs in the database, else its default. May be repeated. Without: the config that is "
         "chosen for --op");
    // clang-format on
    add_timing_options(options);
    add_exclusive_options(options);
    add_graph_options(options);
    return options;
}

/// A config as typed: its variant's op, and params that may be incomplete.
struct Wanted {
    const Variant* variant = nullptr;
    Params params;
};

std::vector<Wanted> wanted_configs(const Parsed& parsed) {
    std::vector<std::string> known;
    for (const Variant& v : registry().variants()) known.emplace_back(v.id);
    std::vector<Wanted> wanted;
    for (const std::string& text : parsed.repeated("config")) {
        Config config = Config::parse(text);
        const Variant* v = registry().find(config.variant);
        if (!v) {
            throw invalid_argument(fmt::format("--config: this build has no '{}'{} (gnntune list)", config.variant,
                                               did_you_mean(config.variant, known)));
        }
        wanted.push_back({v, std::move(config.params)});
    }
    if (!wanted.empty() && parsed.given("op")) {
        throw invalid_argument("--op and --config exclude each other: a config names its op");
    }
    return wanted;
}

class ProfileVerb {
public:
    explicit ProfileVerb(const Parsed& parsed)
        : parsed_(parsed),
          out_("profile", parsed.common),
          wanted_(wanted_configs(parsed)),
          device_(gpu(parsed.common)),
          store_(open_store(parsed.common.database_path(), store::Mode::read_write_create, out_)),
          profiler_(registry(), device_, store_, parsed.common.seed),
          table_(profile_table()) {
        out_.set_device(device_);
        policies_ = policies(parsed);
        if (std::find(policies_.begin(), policies_.end(), Policy::graph) != policies_.end()) {
            throw invalid_argument(
                "--policy graph: the kernels of a CUDA graph move what those of hot move; profile --policy hot");
        }
        lock_ = exclusive(device_, parsed, out_);
        clocks_ = clocks(parsed, device_, out_);
        constants_ = store::constants_of_layers(store_, device_.environment);
        if (constants_.copy_gbps <= 0) {
            out_.note(
                "no constants of this device in the database: limits of DRAM and L2 stay empty; run gnntune doctor "
                "--measure");
        }
    }

    int run() {
        try {
            return count();
        } catch (const store::FileMoved& moved) {
            if (!out_.is_table()) out_.print(table_);
            throw database_error(fmt::format("{}; {}", moved.what(), store_.save_elsewhere()));
        }
    }

private:
    int count() {
        GraphReader graphs(parsed_, out_);
        run_ = store_.begin_run({command_line(), version(), git_commit(),
                                 static_cast<std::int64_t>(parsed_.common.seed), device_.environment.device_name});
        while (auto input = graphs.next()) profile_graph(std::move(*input));
        store_.end_run(run_);
        if (!out_.is_table()) out_.print(table_);
        if (wrong_) return kExitVerification;
        if (const auto& why = profiler_.why_not()) {
            return why->kind() == ErrorKind::no_device ? kExitNoDevice : kExitRuntime;
        }
        if (!graphs.all_read()) return kExitInput;
        return table_.rows() > 0 ? kExitOk : kExitRuntime;
    }

    static Device gpu(const CommonOptions& common) {
        Device device = common.device();
        if (device.backend != Backend::cuda) {
            throw Error(ErrorKind::no_device,
                        "hardware counters are read on a GPU, and the device is the CPU; give --device cuda on a "
                        "machine with one");
        }
        return device;
    }

    void profile_graph(InputGraph input) {
        if (input.graph.m() == 0) {
            out_.warn(input.name + " has no edges: there is nothing to profile");
            return;
        }
        const auto held = held_graph(std::move(input), device_);
        tuner::GraphWorkload& graph = held->workload;
        const GraphRecord& record = held->record;
        for (const Wanted& wanted : wanted_) {
            for (const Problem& problem : problems(parsed_, {wanted.variant->op})) {
                each_timing([&](Policy policy, Clock clock) {
                    profile(graph, record,
                            {problem, named(graph, record, wanted, problem, policy, clock), policy, clock});
                });
            }
        }
        if (!wanted_.empty()) return;
        for (const Problem& problem : problems(parsed_)) {
            each_timing([&](Policy policy, Clock clock) {
                profile(graph, record, {problem, chosen(graph, record, problem, policy, clock), policy, clock});
            });
        }
    }

    template <typename Body>
    void each_timing(Body body) {
        for (const Policy policy : policies_) {
            for (const Clock clock : clocks_) {
                // What one config cannot do leaves the others.
                try {
                    body(policy, clock);
                } catch (const Error& e) {
                    if (e.kind() != ErrorKind::unsupported && e.kind() != ErrorKind::verification) throw;
                    wrong_ = wrong_ || e.kind() == ErrorKind::verification;
                    out_.warn(e.what());
                }
            }
        }
    }

    std::vector<Candidate> candidates(tuner::GraphWorkload& graph, const GraphRecord& record, const Problem& problem,
                                      Policy policy, Clock clock) {
        const store::Key key{store_.graph_id(record), store_.environment_id(device_.environment),
                             store_.problem_id(problem)};
        return candidates_of(registry(), graph.graph().query(problem), store_.measurements(key, {policy, clock, {}}),
                             store_.choice(key, policy, clock));
    }

    Config named(tuner::GraphWorkload& graph, const GraphRecord& record, const Wanted& wanted, const Problem& problem,
                 Policy policy, Clock clock) {
        const Query query = graph.graph().query(problem);
        const Variant& v = *wanted.variant;
        if (const Verdict verdict = registry().applicable(v, query); !verdict) {
            throw unsupported(
                fmt::format("{} cannot run {} on {}: {}", v.id, to_text(problem), record.name, verdict.reason));
        }
        Config config{v.id, v.default_params(query)};
        if (wanted.params.empty()) {
            double least = std::numeric_limits<double>::infinity();
            for (const Candidate& c : candidates(graph, record, problem, policy, clock)) {
                if (c.config.variant != v.id || c.median_us >= least) continue;
                least = c.median_us;
                config = c.config;
            }
            return config;
        }
        for (const auto& [name, text] : wanted.params.values()) {
            if (!config.params.find(name)) {
                throw invalid_argument(
                    fmt::format("--config: {} has no param '{}'; it has {}", v.id, name, config.params.text()));
            }
            config.params.set(name, text);
        }
        return config;
    }

    Config chosen(tuner::GraphWorkload& graph, const GraphRecord& record, const Problem& problem, Policy policy,
                  Clock clock) {
        const auto measured = candidates(graph, record, problem, policy, clock);
        const Decision decision = choose(measured, {});
        if (decision.winner) return measured[*decision.winner].config;
        return registry().default_config(graph.graph().query(problem), {});
    }

    void profile(tuner::GraphWorkload& graph, const GraphRecord& record, const tuner::ProfileTask& task) {
        const bool could = !profiler_.why_not();
        const Measurement m = profiler_.profile(graph, record, task, run_);
        if (could && profiler_.why_not()) out_.warn(profiler_.why_not()->what());
        const Query query = graph.graph().query(task.problem);
        const Variant& variant = *registry().find(m.config.variant);
        const std::int64_t gathered = gathered_rows(task.problem, graph.graph().features());
        ProfiledConfig c{record.name,
                         task.problem,
                         m,
                         variant.cost_terms(query, m.config.params),
                         roofline_of(variant, m.config.params, query, gathered, constants_),
                         {}};
        if (m.counters) c.limits = tuner::limits_of(*m.counters, m.median_us, constants_);
        if (out_.is_table()) {
            if (table_.rows() > 0) out_.print_line();
            out_.print(heading(c).line());
            out_.print(counters_table(c));
            if (m.counters) out_.print(Lines().line().line(conclusion(*m.counters, c.limits, c.roofline.work)));
        }
        add_row(table_, c);
    }

    const Parsed& parsed_;
    Output out_;
    std::vector<Wanted> wanted_;
    Device device_;
    std::optional<tuner::DeviceLock> lock_;
    store::Store store_;
    tuner::Profiler profiler_;
    Table table_;
    std::vector<Policy> policies_;
    std::vector<Clock> clocks_;
    DeviceConstants constants_;
    std::int64_t run_ = 0;
    bool wrong_ = false;
};

}  // namespace

int run_profile(const Args& args) {
    const Options options = profile_options();
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, SIZE_MAX, kProfileUsage);
    return ProfileVerb(*parsed).run();
}

}  // namespace gnntune::tools
