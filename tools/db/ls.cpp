// gnntune db ls: the tables of the database.
#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/suggest.hpp"
#include "tools/db/accuracies.hpp"
#include "tools/db/db.hpp"
#include "tools/db/environments.hpp"
#include "tools/db/stored_queries.hpp"

namespace gnntune::tools {
namespace {

Cell text(std::string_view word) {
    return std::string(word);
}

template <typename T>
Cell maybe(const std::optional<T>& value) {
    return value ? Cell(*value) : Cell();
}

Table best(const store::Store& store, Output& out) {
    const StoredQueries queries(store, out);
    const auto rows = store.best();
    std::vector<std::string> held;
    for (const store::BestRow& r : rows) held.push_back(queries.held_back(r));
    const bool any_held =
        std::any_of(held.begin(), held.end(), [](const std::string& words) { return !words.empty(); });
    EnvironmentColumns environments(store);
    Table table = environments.table({{"graph", "graph", ""},
                                      {"op", "op", "", 0, false},
                                      {"k", "k", "", 0, false},
                                      {"problem", "problem", ""},
                                      {"device", "device", ""},
                                      {"policy", "policy", ""},
                                      {"clock", "clock", ""},
                                      {"config", "best config", ""},
                                      {"time_us", "time", "us", 1},
                                      {"library_us", "library", "us", 1},
                                      {"vs_library", "vs library", "x", 2},
                                      {"runner_up", "runner-up", "", 0, false},
                                      {"margin_percent", "margin", "%", 1},
                                      {"deterministic", "deterministic", ""},
                                      {"taken_at", "taken", ""},
                                      {"held_back", "held back", "", 0, any_held}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const store::BestRow& r = rows[i];
        const auto library_us = queries.best_library_us(store, r);
        table.add(environments.row(
            {r.graph, text(to_text(r.op)), std::int64_t{r.k}, r.problem, r.device, text(to_text(r.policy)),
             text(to_text(r.clock)), r.config, r.time_us, maybe(library_us),
             library_us ? Cell(*library_us / r.time_us) : Cell(), maybe(r.runner_up), maybe(r.margin_percent),
             r.deterministic, r.taken_at, held[i].empty() ? Cell() : Cell(held[i])},
            r.environment));
    }
    return table;
}

Table graphs(const store::Store& store, Output&) {
    Table table({{"graph", "graph", ""},
                 {"n_rows", "rows", ""},
                 {"n_cols", "columns", ""},
                 {"m", "edges", ""},
                 {"measurements", "measurements", ""},
                 {"fingerprint", "fingerprint", ""},
                 {"other_names", "other names", ""},
                 {"source", "source", ""}});
    for (const store::GraphRow& r : store.graphs()) {
        table.add({r.record.name, r.record.n_rows, r.record.n_cols, r.record.m, r.measurements,
                   r.record.fingerprint.text(), joined(r.other_names), r.record.source});
    }
    return table;
}

Table problems(const store::Store& store, Output&) {
    Table table({{"id", "id", ""},
                 {"problem", "problem", ""},
                 {"op", "op", ""},
                 {"k", "k", ""},
                 {"heads", "heads", ""},
                 {"dtype", "type", ""},
                 {"reduce", "reduce", ""},
                 {"weighted", "weighted", ""},
                 {"direction", "direction", ""},
                 {"self_loop", "self loop", ""}});
    for (const store::ProblemRow& r : store.problems()) {
        const Problem& p = r.problem;
        table.add({r.id, to_text(p), text(to_text(p.op)), std::int64_t{p.k}, std::int64_t{p.heads},
                   text(to_text(p.dtype)), text(to_text(p.reduce)), p.weighted, text(to_text(p.direction)),
                   p.self_loop});
    }
    return table;
}

Table runs(const store::Store& store, Output&) {
    Table table({{"run", "run", ""},
                 {"started_at", "started", ""},
                 {"ended_at", "ended", ""},
                 {"measurements", "measurements", ""},
                 {"ok", "ok", ""},
                 {"seed", "seed", "", 0, false},
                 {"tool_version", "version", ""},
                 {"git_commit", "commit", ""},
                 {"host", "host", "", 0, false},
                 {"command", "command", ""}});
    for (const store::RunRow& r : store.runs()) {
        table.add({r.id, r.started_at, maybe(r.ended_at), r.measurements, r.ok, r.info.seed, r.info.tool_version,
                   r.info.git_commit, r.info.host, r.info.command});
    }
    return table;
}

Table choices(const store::Store& store, Output&) {
    EnvironmentColumns environments(store);
    Table table = environments.table({{"graph", "graph", ""},
                                      {"problem", "problem", ""},
                                      {"device", "device", ""},
                                      {"policy", "policy", ""},
                                      {"clock", "clock", ""},
                                      {"config", "config", ""},
                                      {"variant_version", "version", ""},
                                      {"expected_us", "expected", "us", 1},
                                      {"source", "source", ""},
                                      {"reason", "reason", ""},
                                      {"run", "run", ""},
                                      {"decided_at", "decided", ""}});
    for (const store::ChoiceRow& r : store.choices()) {
        table.add(
            environments.row({r.graph_name, to_text(r.problem), r.environment.device_name, text(to_text(r.policy)),
                              text(to_text(r.clock)), r.choice.config.text(), std::int64_t{r.choice.variant_version},
                              r.choice.expected_us, r.choice.source, r.choice.reason, r.run, r.decided_at},
                             r.key.environment));
    }
    return table;
}

Table steps(const store::Store& store, Output&) {
    EnvironmentColumns environments(store);
    Table table = environments.table({{"graph", "graph", ""},
                                      {"step", "step", ""},
                                      {"device", "device", ""},
                                      {"policy", "policy", ""},
                                      {"clock", "clock", ""},
                                      {"problem", "problem", ""},
                                      {"runs_per_step", "runs a step", ""},
                                      {"runs_per_graph", "once", ""},
                                      {"config", "config", ""},
                                      {"expected_us", "expected", "us", 1},
                                      {"formats", "formats", ""},
                                      {"expected_steps", "steps", "", 0},
                                      {"format_limit_bytes", "limit", "B", 0},
                                      {"format_bytes", "", "", 0, false},
                                      {"workspace_bytes", "", "", 0, false},
                                      {"build_us", "", "", 0, false},
                                      {"step_us", "", "", 0, false},
                                      {"run", "run", ""},
                                      {"decided_at", "decided", ""}});
    for (const store::StepChoiceRow& r : store.step_choices()) {
        const store::StepChoice& c = r.choice;
        for (const store::StepCallChoice& call : c.calls) {
            table.add(environments.row(
                {r.graph_name, c.step, r.device_name, text(to_text(r.policy)), text(to_text(r.clock)),
                 to_text(call.problem), std::int64_t{call.runs_per_step}, std::int64_t{call.runs_per_graph},
                 call.config.text(), call.expected_us, call.formats, c.expected_steps, maybe(c.format_limit_bytes),
                 c.format_bytes, c.workspace_bytes, c.build_us, c.step_us, r.run, r.decided_at},
                r.environment));
        }
    }
    return table;
}

Table environments(const store::Store& store, Output&) {
    Table table({{"id", "id", ""},
                 {"backend", "backend", ""},
                 {"device", "device", ""},
                 {"compute_capability", "capability", ""},
                 {"multiprocessors", "multiprocessors", ""},
                 {"memory_bytes", "memory", "bytes"},
                 {"l2_bytes", "L2", "bytes"},
                 {"driver", "driver", ""},
                 {"cuda_runtime", "CUDA", ""},
                 {"libraries", "libraries", ""}});
    for (const store::EnvironmentRow& r : store.environments()) {
        const Environment& e = r.environment;
        table.add({r.id, text(to_text(e.backend)), e.device_name, e.compute_capability, std::int64_t{e.multiprocessors},
                   e.memory_bytes, e.l2_bytes, e.driver, e.cuda_runtime, e.libraries});
    }
    return table;
}

bool is_record_of_a_model(const Json& training, const Json& scores) {
    const auto number = [](const Json& of, const char* key) { return !of.contains(key) || of[key].is_number(); };
    if (!training.is_object() || !scores.is_object() || !number(training, "rows")) return false;
    if (training.contains("graphs") && !training["graphs"].is_array()) return false;
    if (!scores.contains("model")) return true;
    return scores["model"].is_object() && number(scores["model"], "geomean") && number(scores["model"], "worst");
}

Table models(const store::Store& store, Output&) {
    Table table({{"op", "op", ""},
                 {"backend", "backend", ""},
                 {"policy", "policy", ""},
                 {"clock", "clock", ""},
                 {"graphs", "graphs", ""},
                 {"rows", "rows", ""},
                 {"geomean_percent", "new graphs", "%", 2},
                 {"worst_percent", "worst", "%", 1},
                 {"bytes", "model", "B"},
                 {"feature_version", "features", ""},
                 {"fitted_at", "fitted", ""},
                 {"git_commit", "commit", "", 0, false}});
    for (const store::ModelRow& r : store.models()) {
        // Another program may have written them.
        const Json training = Json::parse(r.training, nullptr, false);
        const Json scores = Json::parse(r.scores, nullptr, false);
        if (!is_record_of_a_model(training, scores)) {
            throw Error(ErrorKind::database,
                        fmt::format("{}: the model of {} lacks what it was fitted to or its scores; fit "
                                    "it again (gnntune fit)",
                                    store.path().string(), to_text(r.op)));
        }
        const auto percent = [&](const char* key) {
            return scores.contains("model") ? Cell(100 * scores["model"].value(key, 0.0)) : Cell();
        };
        table.add({text(to_text(r.op)), text(to_text(r.backend)), text(to_text(r.policy)), text(to_text(r.clock)),
                   static_cast<std::int64_t>(training.value("graphs", Json::array()).size()),
                   training.value("rows", std::int64_t{0}), percent("geomean"), percent("worst"),
                   static_cast<std::int64_t>(r.bytes.size()), std::int64_t{r.feature_version}, r.fitted_at,
                   r.git_commit});
    }
    return table;
}

Table accuracies(const store::Store& store, Output&) {
    return accuracy_table(store);
}

struct Listing {
    const char* name;
    Table (*make)(const store::Store& store, Output& out);
};
constexpr Listing kListings[] = {{"best", best},     {"graphs", graphs},   {"problems", problems},
                                 {"runs", runs},     {"choices", choices}, {"environments", environments},
                                 {"models", models}, {"steps", steps},     {"accuracies", accuracies}};

}  // namespace

int run_db_ls(const Args& args) {
    constexpr const char* kUsage =
        "gnntune db ls [best|graphs|problems|runs|choices|environments|models|steps|accuracies]";
    Options options("db ls",
                    {kUsage,
                     "Lists the database: for every graph, problem, device, policy and clock the fastest exact "
                     "config (the default), or one of its tables.",
                     {"gnntune db ls", "gnntune db ls graphs", "gnntune db ls runs --json"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 1, kUsage);
    const std::string what = parsed->arguments.empty() ? "best" : parsed->arguments.front();
    std::vector<std::string> names;
    for (const Listing& listing : kListings) {
        names.emplace_back(listing.name);
        if (what != listing.name) continue;
        Output out("db.ls", parsed->common);
        const store::Store store = open_for_reading(parsed->common, out);
        const Table table = listing.make(store, out);
        out.print(table);
        if (table.rows() == 0) out.note(fmt::format("{}: nothing there yet", store.path().string()));
        return kExitOk;
    }
    throw invalid_argument(
        fmt::format("expected one of {}, not '{}'{}", joined(names), what, did_you_mean(what, names)));
}

}  // namespace gnntune::tools
