// gnntune bench: every applicable variant on a graph, side by side, without storing anything.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/registry/resolve.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/machine_load.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/verdicts.hpp"
#include "tools/common/within_memory.hpp"
#include "tools/verbs/reference.hpp"
#include "tuner/clocks.hpp"
#include "tuner/measuring/measure.hpp"

namespace gnntune::tools {
namespace {

Options bench_options() {
    Options options("bench",
                    {"gnntune bench [options] GRAPH...",
                     "Times every applicable variant with its default params, and each library in all its forms: "
                     "time, useful bytes per second, fraction of the roofline, ratio to the best library config. "
                     "Stores nothing; the roofline comes from the database (gnntune doctor --measure).",
                     {"gnntune bench data/cora.mtx.gz --dim 64", "gnntune bench graph.mtx --all --csv",
                      "gnntune bench graph.mtx --compare before.db --fail-on SLOW",
                      "gnntune bench graphs/ --suite real --clock events --csv"}});
    add_problem_options(options, "64");
    add_timing_options(options);
    // clang-format off
    options.group("Search").add_options()
        ("all", boost::program_options::bool_switch(), "every config of every variant, not only the defaults")
        ("allow-sampling", boost::program_options::bool_switch(), "configs that drop edges by design too")
        ("variant", value("LIST"), "only these variants")
        ("max-samples", value("N"), "most timed calls per config (default: 100)")
        ("suite", value("NAME"), "real: beside the graphs given the stand-ins of ogbn-arxiv, ogbn-proteins, Reddit, "
         "amazon0505 and com-amazon, at k from 16 to 512 unless --dim says otherwise, with --all")
        ("compare", value("FILE"), "judge each config against what this database has of it: SAME, FAST, SLOW or "
         "AMBIGUOUS (gnntune db diff)");
    // clang-format on
    add_verdict_options(options);
    add_exclusive_options(options);
    add_graph_options(options);
    return options;
}

/// The largest last.
constexpr const char* kRealStandins[] = {"standin/ogbn_arxiv", "standin/amazon0505", "standin/com_amazon",
                                         "standin/ogbn_proteins", "standin/reddit"};

/// The command line with what its --suite stands for written out.
Args with_suite(const Args& args, const Parsed& parsed) {
    Args out = args;
    const auto suite = parsed.find("suite");
    if (!suite) return out;
    if (*suite != "real") throw invalid_argument("--suite: expected real, not '" + *suite + "'");
    if (!parsed.given("dim")) out.insert(out.end(), {"--dim", "16,32,64,128,256,512"});
    if (!parsed.flag("all")) out.emplace_back("--all");
    out.insert(out.end(), std::begin(kRealStandins), std::end(kRealStandins));
    return out;
}

DeviceConstants constants_of(const Parsed& parsed, const Device& device) {
    const auto of_layers = [&](const std::filesystem::path& path) {
        const auto layers = store::open_layers(path, store::WhenMissing::nothing);
        return layers.empty() ? DeviceConstants() : store::constants_of_layers(layers.front(), device.environment);
    };
    try {
        return of_layers(parsed.common.known_database_path());
    } catch (const Error&) {  // device() has warned of it
        return of_layers({});
    }
}

/// What is timed, and what must not run: refused, with the reason of the erratum.
struct Field {
    std::vector<tuner::Contender> contenders;
    std::vector<tuner::Contender> forbidden;
};

/// Of the errata that hold here the one that the config is under, in words; empty if there is none.
std::string erratum_here(const Query& query, const Variant& v, const Params& params) {
    try {
        return erratum_words(registry(), query, v, params, parts_of(registry(), query, v, params));
    } catch (const Error&) {  // parts that it cannot have: measuring it says so
        return {};
    }
}

Field field_of(const Query& query, const std::vector<std::string>& only, bool all, bool sampling) {
    Field out;
    for (const Variant& v : registry().variants()) {
        if (!registry().applicable(v, query) || (v.sampling && !sampling)) continue;
        if (!only.empty() && std::find(only.begin(), only.end(), v.id) == only.end()) continue;
        const Params standard = v.default_params(query);
        for (const Params& params : only.empty() ? v.space(query) : space_or_default(v, query)) {
            if (!all && !v.baseline && !(params == standard)) continue;
            tuner::Contender c;
            c.config = {v.id, params};
            c.keep = !all || v.baseline;
            c.measurement.reason = erratum_here(query, v, params);
            (c.measurement.reason.empty() ? out.contenders : out.forbidden).push_back(std::move(c));
        }
    }
    return out;
}

/// Appends what must not run to what was timed, as refused, and says why.
void add_forbidden(std::vector<tuner::Contender>& measured, std::vector<tuner::Contender> forbidden, Policy policy,
                   Clock clock, const std::string& where, Output& out) {
    std::map<std::string, std::int64_t> count;  // of configs, by reason
    for (tuner::Contender& c : forbidden) {
        ++count[c.measurement.reason];
        const Variant& v = *registry().find(c.config.variant);
        c.measurement = tuner::refused(v, c.measurement.reason, policy, clock);
        c.measurement.config = c.config;
        measured.push_back(std::move(c));
    }
    for (const auto& [reason, configs] : count) {
        out.note(fmt::format("{}: {} config{} refused, {} (gnntune db errata)", where, configs, configs == 1 ? "" : "s",
                             reason));
    }
}

/// What became of everything: whether anything was timed, and whether a result was wrong.
struct Outcome {
    bool timed = false;
    bool wrong = false;

    void add(const std::vector<tuner::Contender>& measured) {
        for (const tuner::Contender& c : measured) {
            timed = timed || (c.measurement.samples > 0 && c.measurement.median_us > 0);
            wrong = wrong || c.measurement.status == MeasurementStatus::wrong;
        }
    }
};

void add_rows(Table& table, const std::string& graph, const Query& query, std::int64_t gathered,
              std::vector<tuner::Contender> measured, const DeviceConstants& constants,
              const std::optional<std::map<std::string, tuner::Pair>>& judged) {
    double library_us = std::numeric_limits<double>::infinity();
    for (const auto& c : measured) {
        const Measurement& m = c.measurement;
        const Variant* v = registry().find(m.config.variant);
        if (m.status == MeasurementStatus::ok && v->baseline && v->precision == Precision::fp32) {
            library_us = std::min(library_us, m.median_us);
        }
    }
    std::stable_sort(measured.begin(), measured.end(), [](const auto& a, const auto& b) {
        const auto key = [](const Measurement& m) {
            return m.status == MeasurementStatus::ok ? m.median_us : std::numeric_limits<double>::infinity();
        };
        return key(a.measurement) < key(b.measurement);
    });
    for (const auto& c : measured) {
        const Measurement& m = c.measurement;
        const Roofline roof =
            roofline_of(*registry().find(m.config.variant), m.config.params, query, gathered, constants);
        const double useful_bytes = roof.work.a_bytes + roof.work.gather_min_bytes + roof.work.out_bytes;
        const bool timed = m.samples > 0 && m.median_us > 0;
        Cell time;
        Cell spread;
        Cell gbps;
        Cell gflops;
        Cell fraction;
        Cell ratio;
        if (timed) {
            time = m.median_us;
            spread = (m.ci_high_us - m.ci_low_us) / 2;
            gbps = useful_bytes / m.median_us / 1e3;
            gflops = roof.work.flops / m.median_us / 1e3;
            if (constants.copy_gbps > 0) fraction = 100.0 * roof.us() / m.median_us;
            if (std::isfinite(library_us)) ratio = library_us / m.median_us;
        }
        Style style = m.status == MeasurementStatus::wrong || m.status == MeasurementStatus::failed ? Style::bad
                      : m.status == MeasurementStatus::refused                                      ? Style::dim
                                                                                                    : Style::plain;
        std::vector<Cell> cells = {graph,
                                   short_problem(query.problem),
                                   m.config.text(),
                                   time,
                                   spread,
                                   gbps,
                                   gflops,
                                   fraction,
                                   ratio,
                                   std::string(to_text(m.clock)),
                                   std::string(to_text(m.policy)),
                                   std::string(to_text(m.status)),
                                   m.reason};
        if (judged) {
            const auto found = judged->find(m.config.text());
            const tuner::Pair* pair = found == judged->end() ? nullptr : &found->second;
            if (pair && style == Style::plain) style = style_of(pair->judgement.verdict);
            const auto verdict = Reference::cells(pair);
            cells.insert(cells.end(), verdict.begin(), verdict.end());
        }
        table.add(std::move(cells), style);
    }
}

}  // namespace

int run_bench(const Args& args) {
    const Options options = bench_options();
    const auto typed = options.parse(args);
    if (!typed) return kExitOk;
    const auto parsed = options.parse(with_suite(args, *typed));
    require_arguments(*parsed, 1, SIZE_MAX, "gnntune bench [options] GRAPH...");
    Output out("bench", parsed->common);
    const Device device = parsed->common.device(DatabaseUse::errata);
    out.set_device(device);
    const auto wanted = problems(*parsed);
    const bool sampling = parsed->flag("allow-sampling");
    const auto only = named_variants(*parsed, wanted, device, sampling, out);
    tuner::MeasureOptions measuring;
    measuring.max_samples = static_cast<int>(parsed->integer("max-samples", 5, 100000).value_or(measuring.max_samples));
    const auto timing = policies(*parsed, device);
    Reference reference(*parsed);
    const auto lock = exclusive(device, *parsed, out);
    if (interrupted()) return kExitInterrupted;
    const auto by = clocks(*parsed, device, out);
    if (const auto warning = load_warning(device, "run this again")) out.warn(*warning);
    const auto constants = constants_of(*parsed, device);
    if (constants.copy_gbps <= 0 && device.backend == Backend::cuda) {
        out.note(
            "no constants of this device in the database: the roofline column stays empty; run gnntune doctor "
            "--measure");
    }
    std::vector<Column> columns = {{"graph", "graph", ""},
                                   {"problem", "problem", ""},
                                   {"config", "config", ""},
                                   {"time_us", "time", "us"},
                                   {"ci_us", "+-", "us"},
                                   {"gbps", "useful", "GB/s", 0},
                                   {"gflops", "", "GFLOP/s", 0},
                                   {"roofline_percent", "roofline", "%", 0},
                                   {"vs_library", "vs library", "x"},
                                   {"clock", "clock", ""},
                                   {"policy", "policy", ""},
                                   {"status", "status", ""},
                                   {"reason", "reason", "", 0, false}};
    if (reference.given()) columns.insert(columns.end(), reference.columns().begin(), reference.columns().end());
    Table table(std::move(columns));
    Outcome outcome;
    bool stopped = false;
    bool lost = false;  // a problem that memory did not hold
    tuner::MeasureHooks hooks;
    hooks.stop = [] { return interrupted(); };
    GraphReader graphs(*parsed, out);
    const auto end_stopped = [&] {
        out.print(table);
        out.warn("stopped; what was not timed to the end is not in the table");
        return kExitInterrupted;
    };
    while (auto loaded = graphs.next()) {
        if (interrupted()) return end_stopped();
        InputGraph& input = *loaded;
        if (input.graph.m() == 0) {
            out.warn(input.name + " has no edges: there is nothing to time");
            continue;
        }
        std::optional<tuner::GraphWorkload> held;
        const bool fits_whole = graphs.hold([&] {
            held.emplace(registry(), device, std::move(input.graph));
            held->graph().features();
        });
        if (!fits_whole) continue;
        tuner::GraphWorkload& graph = *held;
        const Features& f = graph.graph().features();
        for (const Problem& problem : wanted) {
            const bool fits = within_memory(input.name + " " + short_problem(problem), out, [&] {
                const Query query = graph.graph().query(problem);
                if (const Verdict defined = defined_on(problem, query.n_rows, query.n_cols); !defined) {
                    out.warn(fmt::format("{}: {} is left out: {}", input.name, to_text(problem), defined.reason));
                    return;
                }
                tuner::ProblemWorkload workload(graph, problem, parsed->common.seed);
                const std::int64_t gathered = gathered_rows(problem, f);
                for (const Policy policy : timing) {
                    for (const Clock clock : by) {
                        auto [list, forbidden] = field_of(query, only, parsed->flag("all"), sampling);
                        if (list.empty() && forbidden.empty()) {
                            out.warn(fmt::format("{}: no variant{} does {} (gnntune list)", input.name,
                                                 only.empty() ? " of this build" : " that was asked for",
                                                 to_text(problem)));
                            continue;
                        }
                        const auto stopwatch = tuner::make_stopwatch(clock, device, graph.stream());
                        tuner::Frontier frontier;
                        const bool complete =
                            tuner::measure(workload, list, *stopwatch, policy, measuring, hooks, frontier);
                        if (!complete) {
                            stopped = true;
                            return;
                        }
                        add_forbidden(list, std::move(forbidden), policy, clock,
                                      input.name + " " + short_problem(problem), out);
                        std::optional<std::map<std::string, tuner::Pair>> judged;
                        if (reference.given()) {
                            judged = reference.judge(graph.graph().fingerprint(), input.name, device.environment,
                                                     problem, list);
                        }
                        outcome.add(list);
                        add_rows(table, input.name, query, gathered, std::move(list), constants, judged);
                    }
                }
            });
            lost = lost || !fits;
            if (stopped) return end_stopped();
        }
    }
    out.print(table);
    const int code = table.rows() > 0 ? reference.report(*parsed, out) : kExitOk;
    if (code != kExitOk) return code;
    if (outcome.wrong && !outcome.timed) return kExitVerification;
    if (!graphs.all_read()) return kExitInput;
    return outcome.timed && !lost ? kExitOk : kExitRuntime;
}

}  // namespace gnntune::tools
