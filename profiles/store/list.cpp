// Store: lists for people and tools.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

/// `reads` is Store::Impl::reads.
std::vector<GraphRow> read_graphs(const Database& database, std::string_view where, std::string_view value,
                                  const auto& reads) {
    Statement s = database.prepare(
        fmt::format(
            "SELECT id, fingerprint, n_rows, n_cols, m, name, source, features, "
            "(SELECT count(*) FROM measurement WHERE graph_id = graph.id) FROM graph WHERE {} ORDER BY name, id",
            where),
        "listing graphs");
    Statement names = database.prepare("SELECT name, source FROM graph_name WHERE graph_id = ? ORDER BY name",
                                       "listing names of graphs");
    s.bind(value);
    std::vector<GraphRow> rows;
    while (s.step()) {
        GraphRow row;
        row.id = s.integer(0);
        Fingerprint fingerprint;
        if (!reads([&] { fingerprint = fingerprint_from(s.view(1)); })) continue;
        row.record = {fingerprint, s.integer(2), s.integer(3), s.integer(4), s.text(5), s.text(6), s.text(7)};
        row.measurements = s.integer(8);
        names.bind(row.id);
        while (names.step()) {
            row.other_names.push_back(names.text(0));
            row.other_sources.push_back(names.text(1));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

bool is_fingerprint_start(std::string_view text) {
    return text.size() >= 4 && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
               return std::isxdigit(static_cast<unsigned char>(c)) != 0;
           });
}

template <class T, class F>
std::optional<T> unless_null(const Statement& row, int column, F&& read) {
    return row.is_null(column) ? std::nullopt : std::optional<T>(read(column));
}

}  // namespace

std::vector<GraphRow> Store::graphs() const {
    return read_graphs(database(), "?1 = ''", "", [this](const auto& read) { return impl_->reads(read); });
}

std::vector<GraphRow> Store::find_graphs(std::string_view text) const {
    const auto reads = [this](const auto& read) { return impl_->reads(read); };
    auto rows = read_graphs(
        database(), "name = ?1 OR id IN (SELECT graph_id FROM graph_name WHERE graph_name.name = ?1)", text, reads);
    if (rows.empty() && is_fingerprint_start(text)) {
        rows = read_graphs(database(), "substr(fingerprint, 1, length(?1)) = lower(?1)", text, reads);
    }
    return rows;
}

std::vector<EnvironmentRow> Store::environments() const {
    Statement s = database().prepare(fmt::format("SELECT id, {} FROM environment ORDER BY id", kEnvironmentColumns),
                                     "listing environments");
    std::vector<EnvironmentRow> rows;
    while (s.step()) {
        impl_->reads([&] { rows.push_back({s.integer(0), read_environment(s, 1)}); });
    }
    return rows;
}

std::vector<ProblemRow> Store::problems() const {
    Statement s = database().prepare(
        fmt::format("SELECT id, {} FROM problem ORDER BY op, k, heads, id", kProblemColumns), "listing problems");
    std::vector<ProblemRow> rows;
    while (s.step()) {
        impl_->reads([&] { rows.push_back({s.integer(0), read_problem(s, 1)}); });
    }
    return rows;
}

std::vector<RunRow> Store::runs() const {
    Statement s = database().prepare(
        "SELECT id, command, tool_version, git_commit, seed, host, started_at, ended_at, "
        "(SELECT count(*) FROM measurement WHERE run_id = run.id), "
        "(SELECT count(*) FROM measurement WHERE run_id = run.id AND status = 'ok') FROM run ORDER BY id",
        "listing runs");
    std::vector<RunRow> rows;
    while (s.step()) {
        rows.push_back({s.integer(0),
                        {s.text(1), s.text(2), s.text(3), s.integer(4), s.text(5)},
                        s.text(6),
                        unless_null<std::string>(s, 7, [&](int c) { return s.text(c); }),
                        s.integer(8),
                        s.integer(9)});
    }
    return rows;
}

std::vector<ChoiceRow> Store::choices() const {
    // Alphabetical by problem text would put k=128 before k=16.
    Statement s = database().prepare(
        fmt::format("SELECT graph_id, environment_id, problem_id, graph.name, policy, clock, config, variant_version, "
                    "choice.source, reason, expected_us, tied, run_id, decided_at, {}, {} FROM choice "
                    "JOIN graph ON graph.id = graph_id JOIN environment ON environment.id = environment_id "
                    "JOIN problem ON problem.id = problem_id ORDER BY graph.name, op, k, problem_id, environment_id, "
                    "policy, clock",
                    kEnvironmentColumns, kProblemColumns),
        "listing choices");
    std::vector<ChoiceRow> rows;
    while (s.step()) {
        impl_->reads([&] {
            ChoiceRow row;
            row.key = {s.integer(0), s.integer(1), s.integer(2)};
            row.graph_name = s.text(3);
            row.policy = policy_from(s.view(4));
            row.clock = clock_from(s.view(5));
            row.choice = {config_from(s.view(6)), s.integer32(7), s.text(8), s.text(9), s.real(10),
                          tied_from(s.text(11))};
            row.run = s.integer(12);
            row.decided_at = s.text(13);
            row.environment = read_environment(s, 14);
            row.problem = read_problem(s, 23);
            rows.push_back(std::move(row));
        });
    }
    return rows;
}

std::vector<UnfinishedRow> Store::unfinished() const {
    Statement s = database().prepare(
        fmt::format("WITH newest AS (SELECT max(id) AS id FROM measurement GROUP BY graph_id, environment_id, "
                    "problem_id, policy, clock, config, variant_version), "
                    "open AS (SELECT *, status = 'failed' AND reason GLOB '{}*' AS disturbed, "
                    "status = 'ok' AND reason GLOB '{}*' AS early FROM measurement JOIN newest USING (id)) "
                    "SELECT graph.name, device_name, problem.text, policy, clock, sum(disturbed), sum(early) FROM open "
                    "JOIN graph ON graph.id = graph_id JOIN environment ON environment.id = environment_id "
                    "JOIN problem ON problem.id = problem_id WHERE disturbed OR early "
                    "GROUP BY graph_id, environment_id, problem_id, policy, clock ORDER BY 1, 2, 3, 4, 5",
                    kDisturbed, kStoppedEarly),
        "listing what is unfinished");
    std::vector<UnfinishedRow> out;
    while (s.step()) {
        impl_->reads([&] {
            out.push_back({s.text(0), s.text(1), s.text(2), policy_from(s.view(3)), clock_from(s.view(4)), s.integer(5),
                           s.integer(6)});
        });
    }
    return out;
}

}  // namespace gnntune::store
