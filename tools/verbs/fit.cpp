// gnntune fit: cost models from the measurements of a database, stored in it.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <set>

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/models.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tuner/evaluate.hpp"

namespace gnntune::tools {
namespace {

Options fit_verb_options() {
    Options options("fit",
                    {"gnntune fit [options]",
                     "Fits a cost model for each op that the database has measurements of, says how good it is on "
                     "graphs left out, and stores it there for gnntune predict.",
                     {"gnntune fit --db mine.db", "gnntune fit --op spmm --trees 200 --db mine.db",
                      "gnntune fit --op all --complete --db old.db"}});
    add_training_options(options, "all");
    // clang-format off
    options.group("Check").add_options()
        ("folds", value("N", "10"), "parts that the graphs are split into to score the model; 0: do not score");
    // clang-format on
    return options;
}

std::size_t rows_of(const std::vector<tuner::TrainingProblem>& problems) {
    std::size_t rows = 0;
    for (const auto& p : problems) rows += p.configs.size();
    return rows;
}

Json training_json(const Measured& m, const tuner::FitOptions& options) {
    std::set<std::string> devices;
    for (const auto& p : m.problems) devices.insert(p.device.environment.device_name);
    Json json;
    json["graphs"] = graph_names(m.problems);
    json["problems"] = m.problems.size();
    json["rows"] = rows_of(m.problems);
    json["complete"] = m.filter.complete;
    json["devices"] = devices;
    json["trees"] = tuner::trees_of(options, m.problems.size());
    json["depth"] = options.trees.depth;
    json["rate"] = options.trees.learning_rate;
    json["members"] = options.members;
    json["seed"] = options.seed;
    return json;
}

/// A model of the user's own takes the place of a shipped one, of which it may know less.
void note_hidden(const tuner::TrainingFilter& filter, std::size_t graphs, const store::Store& here, Output& out) {
    for (const store::Store& layer : store::open_layers(here.path())) {
        if (layer.path() == here.path()) continue;
        for (const store::ModelRow& row : layer.models()) {
            if (row.op != filter.op || row.backend != filter.backend || row.policy != filter.policy) continue;
            const Json training = Json::parse(row.training, nullptr, false);
            const std::size_t shipped =
                training.is_object() && training.contains("graphs") ? training["graphs"].size() : 0;
            out.note(
                fmt::format("the model of {}, fitted to {} graph{}, answers from now on instead of the one that came "
                            "with the program, "
                            "fitted to {}: for that one, ask with another database (--db)",
                            to_text(filter.op), graphs, graphs == 1 ? "" : "s", shipped));
            return;
        }
    }
}

}  // namespace

int run_fit(const Args& args) {
    const auto parsed = fit_verb_options().parse(args);
    if (!parsed) return kExitOk;
    if (!parsed->arguments.empty()) {
        throw invalid_argument("fit: expected no argument, got '" + parsed->arguments.front() +
                               "'; the database is --db FILE");
    }
    Output out("fit", parsed->common);
    (void)policy_of(*parsed);  // what is mistyped is said before what is missing
    (void)clock_of(*parsed);
    // Nothing is created for nothing, and nothing fitted that cannot be kept: it is opened for writing once there are
    // measurements.
    // The reader closes first: the last one to close moves the log into the file, and a reader cannot.
    std::optional<store::Store> writing;
    const store::Store measurements = store::Store::open(parsed->common.database_path(), store::Mode::read_only);
    const auto writable = [&]() -> store::Store& {
        if (!writing) {
            writing = open_store(parsed->common.database_path(), store::Mode::read_write_create, out);
        }
        return *writing;
    };
    const tuner::FitOptions options = fit_options(*parsed);
    const auto folds = static_cast<int>(*parsed->integer("folds", 0, 100000));
    Table table({{"op", "op", "", 0},
                 {"backend", "backend", "", 0},
                 {"policy", "policy", "", 0},
                 {"clock", "clock", "", 0},
                 {"graphs", "graphs", "", 0},
                 {"problems", "problems", "", 0},
                 {"rows", "rows", "", 0},
                 {"variants", "variants", "", 0},
                 {"bytes", "model", "B", 0},
                 {"seconds", "fit", "s", 2},
                 {"geomean_percent", "new graphs", "%", 2},
                 {"worst_percent", "worst", "%", 1}});
    std::vector<std::string> incomplete;  // ops of which --complete left nothing, why
    for (const Op op : parsed->ops("op")) {
        const Measured m = measured(measurements, *parsed, op, out, Precision::fp32, parsed->flag("complete"));
        if (m.problems.empty() && m.left_out.incomplete > 0) {
            incomplete.push_back(nothing_complete(parsed->common.database_path().string(), op));
        }
        if (m.problems.empty()) continue;
        check_features(options.without, m.problems);
        store::Store& store = writable();
        const auto started = std::chrono::steady_clock::now();
        const model::Model fitted = tuner::fit(m.problems, registry(), options);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        Json scores = Json::object();
        Cell geomean;
        Cell worst;
        const std::size_t graphs = graph_names(m.problems).size();
        if (folds > 1 && graphs > 1) {
            tuner::EvaluateOptions evaluation;
            evaluation.fit = options;
            evaluation.folds = folds;
            Progress progress(out, "fit " + std::string(to_text(op)), 0);
            evaluation.progress = [&](std::size_t done, std::size_t total) {
                progress.set_total(static_cast<std::int64_t>(total));
                progress.update(static_cast<std::int64_t>(done), "scoring");
            };
            for (const auto& s :
                 tuner::scores_of(tuner::evaluate(m.problems, m.problems, m.problems, registry(), evaluation))) {
                scores[s.name] = {
                    {"cases", s.cases}, {"geomean", s.geomean}, {"worst", s.worst}, {"share_95", s.share_95}};
                if (s.name == "model") geomean = 100 * s.geomean, worst = 100 * s.worst;
            }
        }
        if (graphs < 2) {
            out.warn(
                fmt::format("the model of {} learnt from one graph: nothing is known of how wrong it is on others; "
                            "tune more graphs",
                            to_text(op)));
        }
        note_hidden(m.filter, graphs, measurements, out);
        const std::string bytes = model::to_bytes(fitted);
        store.put_model({op, m.filter.backend, m.filter.policy, m.filter.clock, model::kFeatureVersion, bytes,
                         training_json(m, options).dump(), scores.dump(), version(), git_commit(), ""});
        table.add({std::string(to_text(op)), std::string(to_text(m.filter.backend)),
                   std::string(to_text(m.filter.policy)), std::string(to_text(m.filter.clock)),
                   static_cast<std::int64_t>(graphs), static_cast<std::int64_t>(m.problems.size()),
                   static_cast<std::int64_t>(rows_of(m.problems)), static_cast<std::int64_t>(fitted.variants.size()),
                   static_cast<std::int64_t>(bytes.size()), seconds, geomean, worst});
    }
    if (table.rows() == 0 && !incomplete.empty()) throw input_error(incomplete.front());
    for (const std::string& why : incomplete) out.warn(why);
    if (table.rows() == 0) {
        throw input_error(nothing_measured(measurements, parsed->common.database_path().string(), *parsed));
    }
    out.print(table);
    return kExitOk;
}

}  // namespace gnntune::tools
