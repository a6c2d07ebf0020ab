#include "tools/common/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/common/error.hpp"
#include "core/registry/device.hpp"
#include "profiles/fields/features_json.hpp"
#include "tools/common/program.hpp"
#include "tuner/ablation.hpp"

namespace gnntune::tools {

void add_training_options(Options& options, const char* default_ops) {
    // clang-format off
    options.group("Measurements").add_options()
        ("op", value("LIST", default_ops), "ops, or all (gnntune list ops)")
        ("policy", value("WHICH", "hot"), "hot, cold or graph")
        ("clock", value("WHICH"), "span, events or host (default: the one with most measurements)")
        ("complete", boost::program_options::bool_switch(), "learn only from problems on which every exact config of "
         "this build was tried");
    options.group("Trees").add_options()
        ("trees", value("N"), "trees of a forest (default: 240, and more of many problems)")
        ("depth", value("N", "6"), "questions of a tree")
        ("rate", value("R", "0.15"), "what each tree adds of its correction")
        ("members", value("N", "2"), "forests that are averaged, of variants that are near the fastest")
        ("without", value("LIST"), "features that they do not see, such as locality,sgt_fill");
    // clang-format on
}

tuner::FitOptions fit_options(const Parsed& parsed) {
    tuner::FitOptions o;
    if (const auto trees = parsed.integer("trees", 1, 100000)) {
        o.trees.trees = static_cast<int>(*trees);
        o.most_trees = o.trees.trees;
    }
    o.trees.depth = static_cast<int>(*parsed.integer("depth", 1, 12));
    o.trees.learning_rate = static_cast<float>(*parsed.real("rate", 1e-3, 1));
    o.members = static_cast<int>(*parsed.integer("members", 1, 100));
    o.seed = parsed.common.seed;
    for (const std::string& name : parsed.list("without")) o.without.insert(name);
    return o;
}

Backend backend_of(const store::Store& store, const Parsed& parsed) {
    const std::string& text = parsed.common.device_text;
    if (text == "cpu") return Backend::cpu;
    if (text == "cuda" || text.starts_with("cuda:")) return Backend::cuda;
    if (!text.empty()) throw invalid_argument("--device: expected cpu or cuda, not '" + text + "'");
    const auto environments = store.environments();
    const bool gpu = std::any_of(environments.begin(), environments.end(),
                                 [](const store::EnvironmentRow& e) { return e.environment.backend == Backend::cuda; });
    return gpu ? Backend::cuda : Backend::cpu;
}

Policy policy_of(const Parsed& parsed) {
    const auto policy = parse_policy(parsed.text("policy"));
    if (!policy) {
        throw invalid_argument("--policy: expected hot, cold or graph, not '" + parsed.text("policy") + "'");
    }
    return *policy;
}

std::optional<Clock> clock_of(const Parsed& parsed) {
    const auto text = parsed.find("clock");
    if (!text) return std::nullopt;
    const auto clock = parse_clock(*text);
    if (!clock) throw invalid_argument("--clock: expected span, events or host, not '" + *text + "'");
    return clock;
}

std::vector<std::string> unknown_to(const model::Model& model, const Query& query) {
    std::vector<std::string> ids;
    for (const Variant& v : registry().variants()) {
        const bool same = v.op == query.problem.op && v.backend == query.device->backend;
        if (!same || v.approximate || v.precision != Precision::fp32 || model.find(v.id, v.version)) continue;
        if (registry().applicable(v, query)) ids.push_back(v.id);
    }
    return ids;
}

void check_features(const std::set<std::string>& names, const std::vector<tuner::TrainingProblem>& problems) {
    std::string known;
    std::set<std::string> all;
    for (const tuner::FeatureGroup& group : tuner::feature_groups(problems)) {
        for (const std::string& feature : group.features) {
            if (all.insert(feature).second) known += (known.empty() ? "" : ", ") + feature;
        }
    }
    for (const std::string& name : names) {
        if (!all.contains(name)) throw invalid_argument("--without: no feature '" + name + "'; there are " + known);
    }
}

void note_incomplete(Op op, const tuner::LeftOut& left_out, std::size_t kept, Output& out) {
    if (left_out.incomplete == 0) return;
    std::vector<std::pair<int, std::string>> most;
    for (const auto& [id, problems] : left_out.by_variant) most.emplace_back(-problems, id);
    std::sort(most.begin(), most.end());
    std::vector<std::string> words;
    for (const auto& [minus, id] : most) words.push_back(fmt::format("{} in {}", id, -minus));
    out.note(fmt::format(
        "{}: {} of {} problems are left out by --complete: configs were not tried of {}; gnntune tune "
        "--exhaustive measures them",
        to_text(op), left_out.incomplete, left_out.incomplete + static_cast<int>(kept), fmt::join(words, ", ")));
}

Measured measured(const store::Store& store, const Parsed& parsed, Op op, Output& out, Precision precision,
                  bool complete) {
    Measured best;
    best.filter.op = op;
    best.filter.precision = precision;
    best.filter.backend = backend_of(store, parsed);
    best.filter.policy = policy_of(parsed);
    best.filter.complete = complete;
    std::vector<Clock> clocks{Clock::events, Clock::span, Clock::host};
    if (const auto clock = clock_of(parsed)) clocks = {*clock};
    int without_features = 0;  // of all clocks the same graphs
    for (const Clock clock : clocks) {
        tuner::TrainingFilter filter = best.filter;
        filter.clock = clock;
        tuner::LeftOut left_out;
        auto problems = tuner::training_problems(store, registry(), filter, &left_out);
        without_features = left_out.without_features;
        const bool says_more = best.problems.empty() && left_out.incomplete > best.left_out.incomplete;
        if (problems.size() > best.problems.size() || says_more) {
            best = {filter, std::move(problems), std::move(left_out)};
        }
    }
    if (without_features > 0) {
        out.warn(
            fmt::format("{} graphs are left out: {} lacks features of them that this program needs; `gnntune tune` on "
                        "their files fills them in and measures nothing again",
                        without_features, store.path().string()));
    }
    note_incomplete(op, best.left_out, best.problems.size(), out);
    return best;
}

std::vector<tuner::TrainingProblem> measured_there(const store::Store& store, const tuner::TrainingFilter& filter,
                                                   tuner::LeftOut* left_out) {
    return tuner::training_problems(store, registry(), filter, left_out);
}

namespace {

/// Ops with their policies and clocks, of which a database has a fastest config.
std::string what_is_there(const store::Store& store) {
    std::map<std::string, std::set<std::string>> ops;
    for (const store::BestRow& row : store.best()) {
        ops[fmt::format("{} and {}", to_text(row.policy), to_text(row.clock))].emplace(to_text(row.op));
    }
    std::string out;
    for (const auto& [how, which] : ops) {
        out += fmt::format("{}{} of {}", out.empty() ? "" : "; ", how, fmt::join(which, ", "));
    }
    return out.empty() ? "the database has none at all" : "there are: " + out;
}

}  // namespace

std::string nothing_measured(const store::Store& store, const std::string& file, const Parsed& parsed) {
    if (!built_with_cuda() && backend_of(store, parsed) == Backend::cuda && !store.problems().empty()) {
        return file +
               ": its measurements are of a GPU, and this build has no CUDA variants to judge them by; build with "
               "nvcc (a GPU is not needed), or give --device cpu for measurements of CPUs";
    }
    const auto graphs = store.graphs();
    if (!graphs.empty() && std::none_of(graphs.begin(), graphs.end(), [](const store::GraphRow& row) {
            return store::features_from(row.record.features_json).has_value();
        })) {
        return file +
               ": it has features of none of its graphs that this program understands (an older one wrote them?); "
               "`gnntune tune` on their files fills them in and measures nothing again";
    }
    return fmt::format(
        "{}: no measurements of {} on {}, policy {}{}, by variants that this build has; {}; --op, --policy, --clock "
        "and "
        "--device choose, gnntune tune makes more",
        file, parsed.text("op"), to_text(backend_of(store, parsed)), parsed.text("policy"),
        parsed.find("clock") ? ", clock " + *parsed.find("clock") : std::string(), what_is_there(store));
}

std::string nothing_complete(const std::string& file, Op op) {
    return fmt::format(
        "{}: on no problem of {} was every config of this build tried; gnntune tune --exhaustive does so on "
        "the graphs' files, or leave out --complete",
        file, to_text(op));
}

std::vector<std::string> graph_names(const std::vector<tuner::TrainingProblem>& problems) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const auto& p : problems) {
        if (seen.insert(p.fingerprint).second) names.push_back(p.graph);
    }
    return names;
}

}  // namespace gnntune::tools
