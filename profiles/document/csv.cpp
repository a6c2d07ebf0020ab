#include "profiles/document/csv.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/printable.hpp"

namespace gnntune::store {
namespace {

void write_field(std::ostream& out, std::string_view held) {
    const std::string text = printable(held);
    if (text.find_first_of(",\"") == std::string_view::npos) {
        out << text;
        return;
    }
    out << '"';
    for (const char c : text) {
        if (c == '"') out << '"';
        out << c;
    }
    out << '"';
}

/// Shortest digits that read back as the same double; plain notation, which every spreadsheet takes.
void write_real(std::ostream& out, double value) {
    char buffer[64];
    const bool plain = value == 0 || (std::abs(value) >= 1e-4 && std::abs(value) < 1e15);
    const auto end = plain ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed)
                           : std::to_chars(buffer, buffer + sizeof buffer, value);
    out.write(buffer, end.ptr - buffer);
}

void write_query(Statement& rows, std::ostream& out) {
    const int columns = rows.columns();
    for (int c = 0; c < columns; ++c) {
        if (c > 0) out << ',';
        write_field(out, rows.column_name(c));
    }
    out << '\n';
    while (rows.step()) {
        for (int c = 0; c < columns; ++c) {
            if (c > 0) out << ',';
            if (rows.is_real(c)) {
                write_real(out, rows.real(c));
            } else {
                write_field(out, rows.view(c));
            }
        }
        out << '\n';
    }
}

constexpr std::string_view kCounterColumns =
    "dram_read_bytes, dram_write_bytes, l2_read_bytes, l2_write_bytes, l2_atomic_bytes, l2_reduction_bytes, "
    "l2_hit_percent, l1_hit_percent, occupancy_percent, issue_percent, l1_pipe_percent, tensor_pipe_percent, "
    "tensor_instructions, shared_bank_conflicts, sm_active_us, atomic_unit_us";

}  // namespace

void write_best_csv(const Store& store, const HeldBackWords& held_back, std::ostream& out) {
    out << "graph,op,k,problem,device,policy,clock,config,time_us,cusparse_us,vs_cusparse,runner_up,margin_percent,"
           "deterministic,taken_at,environment_id,held_back\n";
    const auto field = [&out](std::string_view text) {
        write_field(out, text);
        out << ',';
    };
    const auto number = [&out](const std::optional<double>& value) {
        if (value) write_real(out, *value);
        out << ',';
    };
    for (const BestRow& row : store.best()) {
        field(row.graph);
        field(to_text(row.op));
        field(std::to_string(row.k));
        field(row.problem);
        field(row.device);
        field(to_text(row.policy));
        field(to_text(row.clock));
        field(row.config);
        number(row.time_us);
        number(row.cusparse_us);
        number(row.vs_cusparse);
        field(row.runner_up.value_or(""));
        number(row.margin_percent);
        field(row.deterministic ? "yes" : "no");
        field(row.taken_at);
        field(std::to_string(row.environment));
        write_field(out, held_back(row));
        out << '\n';
    }
}

void write_measurements_csv(const Store& store, std::optional<std::int64_t> run, std::ostream& out) {
    if (run) {
        Statement known = store.database().prepare("SELECT 1 FROM run WHERE id = ?", "looking for a run");
        if (!known.bind(*run).step()) {
            throw invalid_argument("no run " + std::to_string(*run) + " in " + store.path().string() +
                                   "; `select * from runs` lists them");
        }
    }
    Statement rows = store.database().prepare(
        fmt::format(
            R"(SELECT graph.name AS graph, n_rows, n_cols, graph.m AS m, op, k, heads, weighted, direction, self_loop, dtype,
                   reduce,                   policy, clock, config, variant_version, status, reason, median_us, q1_us, q3_us, samples,
                   sm_clock_mhz, prepare_us, workspace_bytes, max_error, device_name AS device, driver,
                   cuda_runtime AS cuda, measurement.taken_at AS taken_at, git_commit AS 'commit', {0}
            FROM measurement JOIN graph ON graph.id = graph_id JOIN problem ON problem.id = problem_id
            JOIN environment ON environment.id = environment_id JOIN run ON run.id = run_id
            LEFT JOIN (SELECT measurement_id, {0} FROM counters) ON measurement_id = measurement.id
            WHERE ?1 IS NULL OR run_id = ?1 ORDER BY measurement.id)",
            kCounterColumns),
        "exporting measurements");
    rows.bind(run);
    write_query(rows, out);
}

}  // namespace gnntune::store
