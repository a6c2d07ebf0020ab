// Store: what sampling and reduced precision cost trained models.
#include <fmt/format.h>

#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

std::vector<AccuracyCall> calls_of_accuracy(const Database& database, std::int64_t id) {
    Statement s =
        database.prepare(fmt::format("SELECT rule, config, variant_version, time_us, {} FROM accuracy_call "
                                     "JOIN problem ON problem.id = problem_id WHERE accuracy_id = ? ORDER BY position",
                                     kProblemColumns),
                         "reading the sums of a model");
    s.bind(id);
    std::vector<AccuracyCall> calls;
    while (s.step()) {
        calls.push_back({read_problem(s, 4), s.text(0), config_from(s.view(1)), s.integer32(2), s.real(3)});
    }
    return calls;
}

}  // namespace

std::vector<AccuracyRow> Store::accuracies() const {
    std::vector<AccuracyRow> out;
    if (!database().has_table("accuracy")) return out;  // the file is older
    Statement s = database().prepare(
        "SELECT accuracy.id, graph_id, environment_id, graph.name, fingerprint, model, model_name, way, models, "
        "vertices, "
        "accuracy, exact_accuracy, loss, loss_low, loss_high, max_error, time_us, exact_us, run_id, taken_at "
        "FROM accuracy JOIN graph ON graph.id = graph_id "
        "ORDER BY graph.name, model_name, model, environment_id, time_us, way",
        "reading accuracies");
    while (s.step()) {
        impl_->reads([&] {
            AccuracyRow row;
            row.graph = s.integer(1);
            row.environment = s.integer(2);
            row.graph_name = s.text(3);
            row.fingerprint = fingerprint_from(s.view(4));
            row.model = s.text(5);
            row.model_name = s.text(6);
            row.way = s.text(7);
            row.models = s.integer(8);
            row.vertices = s.integer(9);
            row.accuracy = s.real(10);
            row.exact_accuracy = s.real(11);
            row.loss = s.real(12);
            row.loss_low = s.real(13);
            row.loss_high = s.real(14);
            row.max_error = s.real(15);
            row.time_us = s.real(16);
            row.exact_us = s.real(17);
            row.run = s.integer(18);
            row.taken_at = s.text(19);
            row.calls = calls_of_accuracy(database(), s.integer(0));
            out.push_back(std::move(row));
        });
    }
    return out;
}

}  // namespace gnntune::store
