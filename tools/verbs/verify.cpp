// gnntune verify: every config of every applicable variant against the oracle, on the graphs that are given.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/common/error.hpp"
#include "core/registry/resolve.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/within_memory.hpp"
#include "tuner/measuring/workload.hpp"

namespace gnntune::tools {
namespace {

Options verify_options() {
    Options options("verify",
                    {"gnntune verify [options] GRAPH...",
                     "Runs every config of every applicable variant once and compares each element with a "
                     "double-precision reference. Exit code 5 if any disagrees.",
                     {"gnntune verify data/cora.mtx.gz", "gnntune verify graph.mtx --op spmm,sddmm --direction both"}});
    add_problem_options(options, "1,16,33,64");
    options.group("Search").add_options()("variant", value("LIST"), "only these variants");
    add_graph_options(options);
    return options;
}

struct Tally {
    std::int64_t configs = 0;
    std::int64_t wrong = 0;
    double max_error = 0;
    double worst_ratio = 0;
    std::string note;  ///< first failure, or why nothing ran
};

}  // namespace

int run_verify(const Args& args) {
    const Options options = verify_options();
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, SIZE_MAX, "gnntune verify [options] GRAPH...");
    Output out("verify", parsed->common);
    Device device = parsed->common.device(DatabaseUse::errata);
    device.errata = nullptr;  // whether they still hold may be the question
    out.set_device(device);
    const auto wanted = problems(*parsed);
    const auto only = named_variants(*parsed, wanted, device, true, out);
    Table table({{"graph", "graph", ""},
                 {"problem", "problem", ""},
                 {"variant", "variant", ""},
                 {"configs", "configs", "", 0},
                 {"wrong", "wrong", "", 0},
                 {"max_error", "max error", "", 9},
                 {"worst_ratio", "of tolerance", "", 3},
                 {"status", "status", ""},
                 {"note", "note", ""}});
    std::int64_t failures = 0;
    std::int64_t executed = 0;
    bool stopped = false;
    bool lost = false;  // a problem that memory did not hold
    GraphReader graphs(*parsed, out);
    while (auto loaded = graphs.next()) {
        InputGraph& input = *loaded;
        std::optional<tuner::GraphWorkload> held;
        const bool fits_whole = graphs.hold([&] {
            held.emplace(registry(), device, std::move(input.graph));
            held->graph().features();
        });
        if (!fits_whole) continue;
        tuner::GraphWorkload& graph = *held;
        for (const Problem& problem : wanted) {
            const bool fits = within_memory(input.name + " " + short_problem(problem), out, [&] {
                std::optional<tuner::ProblemWorkload> workload;  // made for the first variant that applies
                const Query query = graph.graph().query(problem);
                for (const Variant& v : registry().variants()) {
                    if (v.op != problem.op || v.backend != device.backend) continue;
                    if (!only.empty() && std::find(only.begin(), only.end(), v.id) == only.end()) continue;
                    if (interrupted()) {
                        stopped = true;
                        return;
                    }
                    Tally tally;
                    const Verdict verdict = registry().applicable(v, query);
                    if (!verdict) {
                        table.add({input.name,
                                   short_problem(problem),
                                   v.id,
                                   std::int64_t{0},
                                   std::int64_t{0},
                                   {},
                                   {},
                                   std::string("refused"),
                                   verdict.reason},
                                  Style::dim);
                        continue;
                    }
                    if (!workload) workload.emplace(graph, problem, parsed->common.seed).prepare_oracles();
                    for (const Params& params : space_or_default(v, query)) {
                        stopped = interrupted();
                        if (stopped) break;
                        const Config config{v.id, params};
                        ++tally.configs;
                        try {
                            const Plan plan(graph.graph(), problem, config, graph.stream());
                            const auto result = workload->check(plan);
                            tally.max_error = std::max(tally.max_error, result.max_error);
                            tally.worst_ratio = std::max(tally.worst_ratio, result.worst_ratio);
                            if (result.pass()) continue;
                            if (tally.wrong++ == 0) {
                                tally.note = config.text() + ": element " + std::to_string(result.worst_at) + " is off";
                            }
                        } catch (const Error& e) {
                            if (e.kind() == ErrorKind::out_of_memory) throw;
                            if (tally.wrong++ == 0) tally.note = config.text() + ": " + e.what();
                        }
                    }
                    executed += tally.configs;
                    failures += tally.wrong;
                    table.add({input.name, short_problem(problem), v.id, tally.configs, tally.wrong, tally.max_error,
                               tally.worst_ratio, std::string(tally.wrong == 0 ? "ok" : "WRONG"), tally.note},
                              tally.wrong == 0 ? Style::plain : Style::bad);
                    if (stopped) return;
                }
            });
            lost = lost || !fits;
            if (stopped) {
                out.print(table);
                out.warn(fmt::format("stopped after {} configs; what follows them was not checked", executed));
                return kExitInterrupted;
            }
        }
    }
    out.print(table);
    out.note(std::to_string(executed) + " configs checked, " + std::to_string(failures) + " wrong");
    if (executed == 0 && lost) return kExitRuntime;
    if (executed == 0) {
        throw unsupported("nothing was checked: no variant that was asked for applies on " +
                          std::string(to_text(device.backend)) + "; gnntune list shows what there is");
    }
    if (failures > 0) return kExitVerification;
    if (!graphs.all_read()) return kExitInput;
    return lost ? kExitRuntime : kExitOk;
}

}  // namespace gnntune::tools
