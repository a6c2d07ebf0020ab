// Store: what was chosen for training steps.
#include <fmt/format.h>

#include "core/common/utc.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kDeleteStep = R"sql(
DELETE FROM step_choice WHERE graph_id = ? AND environment_id = ? AND step = ? AND policy = ? AND clock = ?)sql";

constexpr std::string_view kInsertStep = R"sql(
INSERT INTO step_choice (graph_id, environment_id, step, policy, clock, expected_steps, format_limit_bytes, formats,
    format_bytes, workspace_bytes, build_us, step_us, reason, run_id, decided_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr std::string_view kInsertCall = R"sql(
INSERT INTO step_call (step_choice_id, position, problem_id, runs_per_step, runs_per_graph, config, variant,
    variant_version, formats, expected_us)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

std::vector<StepCallChoice> calls_of_choice(const Database& database, std::int64_t id) {
    Statement s = database.prepare(
        fmt::format("SELECT runs_per_step, runs_per_graph, config, variant_version, formats, expected_us, {} "
                    "FROM step_call JOIN problem ON problem.id = problem_id WHERE step_choice_id = ? ORDER BY position",
                    kProblemColumns),
        "reading the calls of a step");
    s.bind(id);
    std::vector<StepCallChoice> calls;
    while (s.step()) {
        calls.push_back({read_problem(s, 6), s.integer32(0), s.integer32(1), config_from(s.view(2)), s.integer32(3),
                         s.text(4), s.real(5)});
    }
    return calls;
}

}  // namespace

void Store::set_step_choice(std::int64_t run, std::int64_t graph, std::int64_t environment, Policy policy, Clock clock,
                            const StepChoice& c) {
    impl_->write([&] {
        impl_->cached(kDeleteStep, "replacing a step's choice")
            .bind(graph, environment, c.step, to_text(policy), to_text(clock))
            .run();
        impl_->cached(kInsertStep, "setting a step's choice")
            .bind(graph, environment, c.step, to_text(policy), to_text(clock), c.expected_steps, c.format_limit_bytes,
                  c.formats, c.format_bytes, c.workspace_bytes, c.build_us, c.step_us, c.reason, run, utc_now())
            .run();
        const std::int64_t id = impl_->database.last_insert_id();
        std::int64_t position = 0;
        for (const StepCallChoice& call : c.calls) {
            const std::int64_t problem = problem_id(call.problem);
            impl_->require_measured({graph, environment, problem}, policy, clock, call.config, call.variant_version);
            impl_->cached(kInsertCall, "setting a call of a step")
                .bind(id, position++, problem, call.runs_per_step, call.runs_per_graph, call.config.text(),
                      call.config.variant, call.variant_version, call.formats, call.expected_us)
                .run();
        }
        return 0;
    });
}

std::vector<StepChoiceRow> Store::step_choices() const {
    Statement s = database().prepare(
        "SELECT step_choice.id, graph_id, environment_id, graph.name, device_name, policy, clock, step, "
        "expected_steps, "
        "format_limit_bytes, formats, format_bytes, workspace_bytes, build_us, step_us, reason, run_id, decided_at "
        "FROM step_choice JOIN graph ON graph.id = graph_id JOIN environment ON environment.id = environment_id "
        "ORDER BY graph.name, step, environment_id, policy, clock",
        "reading choices for steps");
    std::vector<StepChoiceRow> out;
    while (s.step()) {
        impl_->reads([&] {
            StepChoiceRow row{s.integer(1),          s.integer(2), s.text(3),     s.text(4), policy_from(s.view(5)),
                              clock_from(s.view(6)), {},           s.integer(16), s.text(17)};
            StepChoice& c = row.choice;
            c.step = s.text(7);
            c.expected_steps = s.real(8);
            if (!s.is_null(9)) c.format_limit_bytes = s.integer(9);
            c.formats = s.text(10);
            c.format_bytes = s.integer(11);
            c.workspace_bytes = s.integer(12);
            c.build_us = s.real(13);
            c.step_us = s.real(14);
            c.reason = s.text(15);
            c.calls = calls_of_choice(database(), s.integer(0));
            out.push_back(std::move(row));
        });
    }
    return out;
}

}  // namespace gnntune::store
