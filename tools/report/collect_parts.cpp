#include "tools/report/collect_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/dispatch/step.hpp"
#include "tuner/evaluate.hpp"
#include "tuner/step_options.hpp"

namespace gnntune::tools::report {
namespace {

StepWay way_of(const char* name, const char* about, const tuner::StepOptions& from, const Picks& picks,
               const StepLimits& limits) {
    const StepCost cost = step_cost(from.formats, from.options, picks, limits);
    StepWay way{name, about, {}, cost.format_us + cost.own_us, cost.total_us};
    for (std::size_t i = 0; i < from.calls.size(); ++i) {
        way.call_us.push_back(from.calls[i].runs_per_step * from.options[i].options[picks[i]].candidate.median_us);
    }
    return way;
}

/// What the stored choice is held against: the same calls chosen otherwise, from the rows.
void add_ways(StepFacts& facts, const tuner::StepOptions& from, const Registry& registry, const StepLimits& limits,
              const tuner::QueryOf& query_of) {
    if (std::any_of(from.options.begin(), from.options.end(), [](const CallOptions& c) { return c.options.empty(); })) {
        return;
    }
    if (const auto apart = choose_apart(from.formats, from.options, limits)) {
        facts.ways.push_back(way_of("apart", "each call as if it had the graph for itself", from, *apart, limits));
    }
    if (const auto standard = tuner::default_picks(registry, from, query_of)) {
        facts.ways.push_back(way_of("default", "what runs where nothing was measured", from, *standard, limits));
    }
    const StepDecision together = choose_step(from.formats, from.options, limits);
    if (!together.picks) return;
    if (const auto library = tuner::library_picks(registry, from, *together.picks)) {
        facts.ways.push_back(way_of("library", "the library's fastest for the calls it has, this choice for the others",
                                    from, *library, limits));
    }
}

bool has_graph(const Report& report, const std::string& fingerprint) {
    return std::any_of(report.graphs.begin(), report.graphs.end(),
                       [&](const GraphFacts& g) { return g.record.fingerprint.text() == fingerprint; });
}

}  // namespace

Answer answer_of(const Measurement& m, const Variant* variant) {
    if (variant && variant->approximate) return Answer::sampled;
    if (variant && variant->precision != Precision::fp32) return Answer::reduced;
    return m.approximate ? Answer::approximate : Answer::exact;
}

bool is_library(const std::string& id, const Variant* variant) {
    // As the view `best`, where this build does not have it.
    return variant ? variant->baseline : id.find("cusparse") != std::string::npos;
}

bool has_times(const Measurement& m) {
    const auto fits = [](double us) { return std::isfinite(us) && us >= 0; };
    return fits(m.median_us) && fits(m.q1_us) && fits(m.q3_us) && fits(m.min_us) && fits(m.ci_low_us) &&
           fits(m.ci_high_us) && fits(m.prepare_us);
}

bool Timeless::takes(const Measurement& m, const std::string& graph) {
    if (has_times(m)) return false;
    if (count_++ == 0) first_ = m.config.text() + " on " + graph;
    return true;
}

void Timeless::say(Report& report) const {
    if (count_ == 0) return;
    report.remarks.push_back(fmt::format(
        "{} measurement{} left out, {}{}: a stored time is infinite or below 0 (gnntune db check); measure again",
        count_, count_ == 1 ? " is" : "s are", count_ == 1 ? "" : "the first of them ", first_));
}

std::vector<StepFacts> steps_of(const store::Store& store, const Registry& registry, const Report& report,
                                const std::map<std::int64_t, Device>& devices) {
    std::vector<StepFacts> out;
    for (const store::StepChoiceRow& row : store.step_choices()) {
        const auto graph = std::find_if(report.graphs.begin(), report.graphs.end(),
                                        [&](const GraphFacts& g) { return g.id == row.graph; });
        const auto device = devices.find(row.environment);
        if (graph == report.graphs.end() || device == devices.end()) continue;
        const store::StepChoice& choice = row.choice;
        StepFacts facts;
        facts.graph = static_cast<std::size_t>(graph - report.graphs.begin());
        facts.environment = device->second.environment;
        facts.policy = row.policy;
        facts.clock = row.clock;
        facts.step = choice.step;
        facts.expected_steps = choice.expected_steps;
        StepWay together{"together", "this choice", {}, choice.build_us, 0};
        double once_us = 0;
        for (const store::StepCallChoice& call : choice.calls) {
            facts.roles.push_back(to_text(call.problem));
            facts.configs.push_back(call.config.text());
            together.call_us.push_back(call.runs_per_step * call.expected_us);
            once_us += call.runs_per_graph * call.expected_us;
        }
        together.total_us = choice.build_us + once_us + choice.expected_steps * choice.step_us;
        facts.ways.push_back(std::move(together));
        const auto step = parse_step(choice.step);
        if (step && calls_of(*step).size() == facts.roles.size()) {
            const auto calls = calls_of(*step);
            for (std::size_t i = 0; i < calls.size(); ++i) facts.roles[i] = calls[i].role;
            const auto query_of = [&](const Problem& problem) {
                const bool reversed = problem.direction == Direction::reversed;
                const GraphRecord& g = graph->record;
                return Query{problem,
                             reversed ? g.n_cols : g.n_rows,
                             reversed ? g.n_rows : g.n_cols,
                             g.m,
                             graph->features ? &*graph->features : nullptr,
                             &device->second};
            };
            StepLimits limits;
            limits.constraints.expected_calls = choice.expected_steps;
            if (choice.format_limit_bytes) limits.format_bytes = static_cast<std::size_t>(*choice.format_limit_bytes);
            add_ways(facts,
                     tuner::step_options(registry, store, *step, row.graph, row.environment, row.policy, row.clock,
                                         query_of),
                     registry, limits, query_of);
        }
        out.push_back(std::move(facts));
    }
    return out;
}

std::vector<store::ModelRow> fitted_models(const store::Store& store) {
    auto models = store.models();
    for (store::ModelRow& m : models) m.bytes.clear();
    return models;
}

std::vector<ModelFacts> judged_models(const store::Store& store, const Registry& registry, const Report& report,
                                      int folds, const CollectOptions& options) {
    std::set<std::tuple<Op, Backend, Policy, Clock>> wanted;
    for (const Setting& s : report.settings) {
        wanted.emplace(s.problem.op, s.environment.backend, s.policy, s.clock);
    }
    std::vector<ModelFacts> out;
    for (const auto& [op, backend, policy, clock] : wanted) {
        const tuner::TrainingFilter filter{op, backend, policy, clock, Precision::fp32};
        const auto learn = tuner::training_problems(store, registry, filter);
        std::set<std::string> graphs;
        for (const auto& p : learn) graphs.insert(p.fingerprint);
        if (graphs.size() < 2) continue;
        tuner::EvaluateOptions evaluation;
        evaluation.folds = folds;
        evaluation.searches = false;
        evaluation.progress = options.progress;
        const auto scoring = options.score ? tuner::training_problems(*options.score, registry, filter)
                                           : std::vector<tuner::TrainingProblem>();
        const tuner::Evaluation e =
            tuner::evaluate(learn, learn, options.score ? scoring : learn, registry, evaluation);
        const auto number_of = [&](const char* name) {
            return static_cast<std::size_t>(std::find(e.strategies.begin(), e.strategies.end(), name) -
                                            e.strategies.begin());
        };
        const std::size_t model = number_of("model");
        ModelFacts facts{op, backend, policy, clock, folds, options.score != nullptr, {}};
        for (const tuner::EvaluatedCase& c : e.cases) {
            if (c.efficiency[model] <= 0 || !has_graph(report, c.fingerprint)) continue;
            ModelCase one{c.graph,   c.problem, c.chosen[model], c.expected_us, c.best_us / c.efficiency[model],
                          c.best_us, {}};
            for (std::size_t s = 0; s < e.strategies.size(); ++s) {
                if (c.efficiency[s] > 0) one.efficiency[e.strategies[s]] = c.efficiency[s];
            }
            facts.cases.push_back(std::move(one));
        }
        if (!facts.cases.empty()) out.push_back(std::move(facts));
    }
    return out;
}

void say_what_is_missing(Report& report, int folds) {
    const auto say = [&](Part part, std::string words) { report.missing[part].push_back(std::move(words)); };
    if (report.problems() == 0) {
        for (const Part part : {Part::won, Part::limit, Part::gain, Part::graphs, Part::building}) {
            say(part, "Nothing was measured. `gnntune tune GRAPH...` measures and stores what this page shows.");
        }
    }
    const bool any_rate = std::any_of(report.settings.begin(), report.settings.end(),
                                      [](const Setting& s) { return s.constants.copy_gbps > 0; });
    const bool any_gpu = std::any_of(report.settings.begin(), report.settings.end(),
                                     [](const Setting& s) { return s.environment.backend == Backend::cuda; });
    if (report.problems() > 0 && !any_rate) {
        say(Part::limit,
            any_gpu ? "The rates of the device are not in the database, so there are no lines to hold the times "
                      "against. `gnntune doctor --measure` on that machine stores them."
                    : "The copy and gather rates of CPUs are not measured, so there are no lines to hold the "
                      "times against: the figure shows what moved.");
    }
    if (report.models.empty()) {
        const bool few = report.graphs.size() < 2;
        const bool foreign =
            any_gpu && std::all_of(report.outcomes.begin(), report.outcomes.end(), [](const Outcomes& o) {
                return o.variant.find(".cpu_") == std::string::npos && o.variant.find(".eigen") == std::string::npos;
            });
        if (folds == 0 && !few) {
            say(Part::model, "No model was judged: it would take long, or was turned off. `--folds 5` has it done.");
        } else if (few) {
            say(Part::model, "A model is judged on graphs that it has not seen, so it takes at least two graphs.");
        } else if (foreign) {
            say(Part::model,
                "This build has no variants that these measurements are of, in the versions that were measured: "
                "a model can be judged only by a build that has them.");
        } else {
            say(Part::model,
                "The database has too little of any op for a model to learn from (sums and means in f32).");
        }
    }
    if (report.steps.empty()) {
        say(Part::step, "No training step was tuned as a whole. `gnntune tune GRAPH --step gcn --dim 64,7` does.");
    }
    if (report.measurements == 0 && report.environments.empty()) {
        say(Part::origin, "The database is empty.");
    }
}

}  // namespace gnntune::tools::report
