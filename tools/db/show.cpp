// gnntune db show: everything that was measured on one graph.
#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "core/graph/fingerprint.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/suggest.hpp"
#include "tools/db/accuracies.hpp"
#include "tools/db/db.hpp"
#include "tools/db/environments.hpp"
#include "tools/db/stored_queries.hpp"

namespace gnntune::tools {
namespace {

/// Problems that --op and --dim leave over.
struct Filter {
    std::vector<Op> ops;
    std::vector<std::int64_t> dims;

    bool wants(Op op, std::int64_t k) const {
        return (ops.empty() || std::find(ops.begin(), ops.end(), op) != ops.end()) &&
               (dims.empty() || std::find(dims.begin(), dims.end(), k) != dims.end());
    }
};

/// The first few of them.
std::string first_of(std::vector<std::string> names) {
    constexpr std::size_t kShown = 10;
    const std::size_t more = names.size() > kShown ? names.size() - kShown : 0;
    names.resize(names.size() - more);
    return joined(names) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

/// The problems of which the graph has measurements.
std::vector<std::string> problems_on(const store::Store& store, std::int64_t graph) {
    std::vector<std::string> out;
    for (const store::ProblemRow& problem : store.problems()) {
        const auto environments = store.environments();
        const bool any = std::any_of(environments.begin(), environments.end(), [&](const auto& environment) {
            return !store.measurements({graph, environment.id, problem.id}).empty();
        });
        if (any) out.push_back(short_problem(problem.problem));
    }
    return out;
}

/// By name or fingerprint in the database, else by the fingerprint of a graph that is read now.
store::GraphRow find_row(const store::Store& store, const std::string& argument, const Parsed& parsed, Output& out) {
    std::vector<store::GraphRow> rows = store.find_graphs(argument);
    if (rows.empty() && (names_a_file(argument) || argument.starts_with("standin/"))) {
        const InputGraph input = find_graph(argument, read_options(parsed), out).load(out);
        rows = store.find_graphs(fingerprint(input.graph.view()).text());
    } else if (!rows.empty()) {
        refuse_reading(read_options(parsed),
                       fmt::format("'{}' is a graph of the database; give the file, or leave them "
                                   "out",
                                   argument));
    }
    if (rows.size() == 1) return std::move(rows.front());
    if (rows.empty()) {
        std::vector<std::string> names;
        for (const store::GraphRow& row : store.graphs()) names.push_back(row.record.name);
        std::string there = did_you_mean(argument, names);
        if (there.empty()) there = names.empty() ? "; the database has no graph" : "; there are " + first_of(names);
        throw input_error(fmt::format(
            "{}: nothing was measured on a graph of this name, fingerprint or content{} (gnntune db ls graphs)",
            argument, there));
    }
    std::vector<std::string> fingerprints;
    for (const store::GraphRow& row : rows) fingerprints.push_back(row.record.fingerprint.text());
    throw input_error(fmt::format("{}: {} graphs have this name; use a fingerprint instead: {}", argument, rows.size(),
                                  joined(fingerprints)));
}

Table best_rows(const store::Store& store, std::int64_t graph, const Filter& filter, const StoredQueries& queries) {
    std::vector<std::pair<store::BestRow, std::string>> rows;
    bool any_held = false;
    for (store::BestRow& row : store.best()) {
        if (row.key.graph != graph || !filter.wants(row.op, row.k)) continue;
        std::string held = queries.held_back(row);
        any_held = any_held || !held.empty();
        rows.emplace_back(std::move(row), std::move(held));
    }
    EnvironmentColumns environments(store);
    Table table = environments.table({{"problem", "problem", ""},
                                      {"device", "device", ""},
                                      {"policy", "policy", ""},
                                      {"clock", "clock", ""},
                                      {"config", "best config", ""},
                                      {"time_us", "time", "us", 1},
                                      {"vs_library", "vs library", "x", 2},
                                      {"runner_up", "runner-up", ""},
                                      {"margin_percent", "margin", "%", 1},
                                      {"held_back", "held back", "", 0, any_held}});
    for (const auto& [r, held] : rows) {
        const auto library_us = queries.best_library_us(store, r);
        table.add(environments.row(
            {r.problem, r.device, std::string(to_text(r.policy)), std::string(to_text(r.clock)), r.config, r.time_us,
             library_us ? Cell(*library_us / r.time_us) : Cell(), r.runner_up ? Cell(*r.runner_up) : Cell(),
             r.margin_percent ? Cell(*r.margin_percent) : Cell(), held.empty() ? Cell() : Cell(held)},
            r.environment));
    }
    return table;
}

Style style_of_status(MeasurementStatus status) {
    if (status == MeasurementStatus::ok) return Style::plain;
    return status == MeasurementStatus::wrong || status == MeasurementStatus::failed ? Style::bad : Style::dim;
}

struct ShownRow {
    store::EnvironmentRow environment;
    Problem problem;
    store::StoredMeasurement row;
    std::string held_back;
};

void add_row(Table& table, const EnvironmentColumns& environments, const ShownRow& shown) {
    const auto& [environment, problem, row, held] = shown;
    const Measurement& m = row.measurement;
    const bool timed = m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned;
    const auto time = [timed](double us) { return timed ? Cell(us) : Cell(); };
    table.add(environments.row({to_text(problem),
                                environment.environment.device_name,
                                std::string(to_text(m.policy)),
                                std::string(to_text(m.clock)),
                                m.config.text(),
                                std::int64_t{m.variant_version},
                                std::string(to_text(m.status)),
                                std::string(m.approximate ? "approximate" : "exact"),
                                time(m.median_us),
                                time(m.q1_us),
                                time(m.q3_us),
                                time(m.min_us),
                                timed ? Cell(m.samples) : Cell(),
                                m.prepare_us,
                                m.format_bytes,
                                m.workspace_bytes,
                                m.max_error,
                                m.deterministic,
                                row.run,
                                m.taken_at,
                                m.reason,
                                held.empty() ? Cell() : Cell(held)},
                               environment.id),
              style_of_status(m.status));
}

Table all_measurements(const store::Store& store, std::int64_t graph, const Filter& filter,
                       const StoredQueries& queries) {
    std::vector<ShownRow> shown;
    bool any_held = false;
    for (const store::EnvironmentRow& environment : store.environments()) {
        for (const store::ProblemRow& problem : store.problems()) {
            if (!filter.wants(problem.problem.op, problem.problem.k)) continue;
            auto rows = store.stored_measurements({graph, environment.id, problem.id});
            // Timed ones first, fastest first; the others in the order they were taken.
            std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
                const auto rank = [](const Measurement& m) {
                    return m.status == MeasurementStatus::ok ? 0 : m.status == MeasurementStatus::abandoned ? 1 : 2;
                };
                const int rank_a = rank(a.measurement);
                const int rank_b = rank(b.measurement);
                if (rank_a != rank_b) return rank_a < rank_b;
                return rank_a < 2 && a.measurement.median_us < b.measurement.median_us;
            });
            for (store::StoredMeasurement& row : rows) {
                std::string held = queries.held_back({graph, environment.id, problem.id}, row.measurement.config,
                                                     row.measurement.parts);
                any_held = any_held || !held.empty();
                shown.push_back({environment, problem.problem, std::move(row), std::move(held)});
            }
        }
    }
    EnvironmentColumns environments(store);
    Table table = environments.table({{"problem", "problem", ""},
                                      {"device", "device", "", 0, false},
                                      {"policy", "policy", ""},
                                      {"clock", "clock", ""},
                                      {"config", "config", ""},
                                      {"variant_version", "version", ""},
                                      {"status", "status", ""},
                                      {"answer", "answer", ""},
                                      {"median_us", "median", "us", 1},
                                      {"q1_us", "q1", "us", 1},
                                      {"q3_us", "q3", "us", 1},
                                      {"min_us", "min", "us", 1, false},
                                      {"samples", "samples", ""},
                                      {"prepare_us", "prepare", "us", 0},
                                      {"format_bytes", "formats", "bytes"},
                                      {"workspace_bytes", "workspace", "bytes"},
                                      {"max_error", "max error", "", 9, false},
                                      {"deterministic", "deterministic", "", 0, false},
                                      {"run", "run", ""},
                                      {"taken_at", "taken", ""},
                                      {"reason", "reason", ""},
                                      {"held_back", "held back", "", 0, any_held}});
    for (const ShownRow& row : shown) add_row(table, environments, row);
    return table;
}

}  // namespace

int run_db_show(const Args& args) {
    constexpr const char* kUsage = "gnntune db show [options] GRAPH";
    Options options("db show", {kUsage,
                                "Shows the best configs and all measurements of a graph: a name or the start of a "
                                "fingerprint in the database, or a graph file, which is then read and looked up by its "
                                "content.",
                                {"gnntune db show cora", "gnntune db show 6f1c09 --op spmm --dim 64,256",
                                 "gnntune db show data/cora.mtx.gz --csv > cora.csv"}});
    // clang-format off
    options.group("Choice").add_options()
        ("op", value("OP,..."), "these ops only")
        ("dim", value("K,..."), "these feature dimensions only");
    // clang-format on
    add_graph_options(options);
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, 1, kUsage);
    const Filter filter{parsed->ops("op"), parsed->integers("dim", 1, INT32_MAX)};

    Output out("db.show", parsed->common);
    const store::Store store = open_for_reading(parsed->common, out);
    const store::GraphRow graph = find_row(store, parsed->arguments.front(), *parsed, out);
    const StoredQueries queries(store, out);
    const Table best = best_rows(store, graph.id, filter, queries);
    const Table measurements = all_measurements(store, graph.id, filter, queries);
    const Table accuracies = accuracy_table(store, graph.id);
    if (measurements.rows() == 0) {
        const auto problems = problems_on(store, graph.id);
        out.note(problems.empty()
                     ? graph.record.name + ": nothing was measured on it"
                     : fmt::format("{}: nothing was measured of what --op and --dim leave over; there are {}",
                                   graph.record.name, first_of(problems)));
    }
    switch (out.format()) {
        case OutputFormat::table:
            out.print_line(fmt::format("{}  {} rows, {} columns, {} edges  {}", graph.record.name, graph.record.n_rows,
                                       graph.record.n_cols, graph.record.m, graph.record.fingerprint.text()));
            out.print_line();
            out.print(best);
            out.print_line();
            out.print(measurements);
            if (accuracies.rows() > 0) {
                out.print_line();
                out.print(accuracies);
            }
            break;
        case OutputFormat::csv:
            out.print(measurements);
            break;
        case OutputFormat::json: {
            Json data;
            data["graph"] = graph.record.name;
            data["fingerprint"] = graph.record.fingerprint.text();
            data["n_rows"] = graph.record.n_rows;
            data["n_cols"] = graph.record.n_cols;
            data["m"] = graph.record.m;
            data["source"] = graph.record.source;
            data["best"] = best.json();
            data["measurements"] = measurements.json();
            data["accuracies"] = accuracies.json();
            out.print_json(Json::array({data}));
            break;
        }
    }
    return kExitOk;
}

}  // namespace gnntune::tools
