#include "tuner/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>

#include "core/common/error.hpp"
#include "core/common/parallel_for.hpp"
#include "core/dispatch/advise.hpp"
#include "core/dispatch/bucket.hpp"
#include "tuner/replay.hpp"

namespace gnntune::tuner {
namespace {

constexpr int kLargestShortlist = 5;
constexpr double kPapersDegree = 8;

const std::vector<std::string>& strategy_names() {
    static const std::vector<std::string> kNames{
        "model",  "model_2",         "model_3",      "model_4",  "model_5", "model_or_default",
        "guided", "guided_3",        "guided_10",    "unguided", "oracle",  "default",
        "static", "library_default", "library_best", "random",   "papers",  "bucket"};
    return kNames;
}

std::size_t strategy_number(const std::string& name) {
    const auto& names = strategy_names();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

using Times = std::map<std::string, double>;  // candidates by their text

Times candidates(const TrainingProblem& p) {
    Times out;
    for (const TimedConfig& c : p.configs) {
        if (c.candidate) out.emplace(c.config.text(), c.us);
    }
    return out;
}

/// The same problem on the same graph, whatever the device.
std::string key_of(const TrainingProblem& p) {
    return p.fingerprint + " " + to_text(p.problem);
}

// Of several environments the one that decided; else the only one with a device of that name.
const TrainingProblem* same_device(const std::vector<const TrainingProblem*>& found, const TrainingProblem& decide) {
    const TrainingProblem* near = nullptr;
    int names = 0;
    for (const TrainingProblem* p : found) {
        if (p->device.environment == decide.device.environment) return p;
        if (p->device.environment.device_name != decide.device.environment.device_name) continue;
        near = p;
        ++names;
    }
    return names == 1 ? near : nullptr;
}

std::string fastest(const Times& times) {
    return std::min_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

bool is_library(const Registry& registry, const std::string& config) {
    const Variant* v = registry.find(Config::parse(config).variant);
    return v && v->baseline;
}

// A problem to judge: candidates that were timed in both runs.
struct Case {
    const TrainingProblem* decide = nullptr;
    Times a;  // of the deciding run
    Times b;  // of the scoring run
    double best_library_us = 0;
};

double fastest_library_us(const TrainingProblem& p, const Registry& registry) {
    double fastest = 0;
    for (const TimedConfig& c : p.configs) {
        const Variant& v = *registry.find(c.config.variant);
        if (!v.baseline || v.precision != p.precision || c.abandoned) continue;
        fastest = fastest > 0 ? std::min(fastest, c.us) : c.us;
    }
    return fastest;
}

std::vector<Case> cases_of(const std::vector<TrainingProblem>& decide, const std::vector<TrainingProblem>& score,
                           const Registry& registry) {
    std::map<std::string, std::vector<const TrainingProblem*>> scoring;
    for (const TrainingProblem& p : score) scoring[key_of(p)].push_back(&p);
    std::vector<Case> out;
    for (const TrainingProblem& p : decide) {
        const TrainingProblem* there = same_device(scoring[key_of(p)], p);
        if (!there) continue;
        Case c{&p, candidates(p), candidates(*there), fastest_library_us(*there, registry)};
        std::erase_if(c.a, [&](const auto& entry) { return !c.b.contains(entry.first); });
        std::erase_if(c.b, [&](const auto& entry) { return !c.a.contains(entry.first); });
        if (!c.a.empty()) out.push_back(std::move(c));
    }
    return out;
}

// The config with the best geometric mean over the problems that have it, of those that nearly all have. A problem
// without it counts as its own slowest candidate.
std::string best_static(const std::vector<TrainingProblem>& problems) {
    std::map<std::string, double> sums;
    double all_worst = 0;
    for (const TrainingProblem& p : problems) {
        const Times times = candidates(p);
        double worst = 0;
        for (const auto& [text, us] : times) worst = std::max(worst, std::log(us) - p.best_log_us);
        all_worst += worst;
        for (const auto& [text, us] : times) sums[text] += std::log(us) - p.best_log_us - worst;
    }
    std::string best;
    double least = INFINITY;
    for (const auto& [text, sum] : sums) {
        if (sum + all_worst < least) least = sum + all_worst, best = text;
    }
    return best;
}

class Judge {
public:
    Judge(const Registry& registry, const Case& c, const std::vector<double>& least_gains)
        : registry_(registry), case_(c), least_gains_(least_gains) {
        out_.graph = c.decide->graph;
        out_.fingerprint = c.decide->fingerprint;
        out_.problem = c.decide->problem;
        out_.best = fastest(c.b);
        out_.best_us = c.b.at(out_.best);
        out_.best_library_us = c.best_library_us;
        const std::size_t strategies = strategy_names().size() + least_gains.size();
        out_.efficiency.resize(strategies);
        out_.chosen.resize(strategies);
        out_.measured.resize(strategies);
        out_.time_share.resize(strategies);
    }

    void with_model(const model::Model& m, bool searches) {
        std::vector<Config> configs;
        for (const auto& [text, us] : case_.a) configs.push_back(Config::parse(text));
        const auto ranked = model::predict(m, registry_, case_.decide->query(), case_.decide->constants, configs);
        if (!ranked.empty()) out_.expected_us = std::exp(ranked.front().log_us);
        std::string best;
        for (int k = 1; k <= kLargestShortlist; ++k) {
            if (static_cast<std::size_t>(k) <= ranked.size()) {
                const std::string next = configs[ranked[static_cast<std::size_t>(k) - 1].config].text();
                if (best.empty() || case_.a.at(next) < case_.a.at(best)) best = next;
            }
            choose(static_cast<std::size_t>(k) - 1, best);
            out_.measured[static_cast<std::size_t>(k) - 1] = k > 1 ? k : 0;
        }
        if (case_.decide->precision == Precision::fp32) or_default(m, configs);
        if (!searches) return;
        search("guided", &m, 0);
        search("guided_3", &m, 3);
        search("guided_10", &m, 10);
    }

    void without_model(const std::string& static_config, bool searches) {
        choose(at("oracle"), fastest(case_.a));
        out_.measured[at("oracle")] = static_cast<double>(case_.a.size());
        if (searches) search("unguided", nullptr, 0);
        choose(at("static"), static_config);
        if (const auto standard = default_of(*case_.decide, registry_)) choose(at("default"), standard->text());
        Times library;
        double logs = 0;
        for (const auto& [text, us] : case_.a) {
            if (is_library(registry_, text)) library.emplace(text, us);
            logs += std::log(case_.b.at(text));
        }
        if (!library.empty()) choose(at("library_best"), fastest(library));
        for (const auto& [text, us] : library) {
            const Config config = Config::parse(text);
            const Variant& v = *registry_.find(config.variant);
            if (config.params == v.default_params(case_.decide->query())) choose(at("library_default"), text);
        }
        out_.efficiency[at("random")] = out_.best_us / std::exp(logs / static_cast<double>(case_.a.size()));
        out_.chosen[at("random")] = "geometric mean of " + std::to_string(case_.a.size());
        // The default params of spmm.tcgnn are its paper's: floor(mean edges of a window / 32) warps.
        const char* rule = case_.decide->precision == Precision::tf32            ? "spmm.tcgnn"
                           : case_.decide->features->degree_mean > kPapersDegree ? "spmm.gar"
                                                                                 : "spmm.gas";
        for (const auto& [text, us] : case_.a) {
            const Config config = Config::parse(text);
            if (config.variant != rule) continue;
            if (config.params == registry_.find(rule)->default_params(case_.decide->query()))
                choose(at("papers"), text);
        }
    }

    EvaluatedCase take() && { return std::move(out_); }

private:
    static std::size_t at(const std::string& name) { return strategy_number(name); }
    // What a dispatcher runs where nothing was measured; it knows one class, for those who allow no error.
    void or_default(const model::Model& m, const std::vector<Config>& configs) {
        const Prospects prospects(m, registry_, configs);
        const auto follow = [&](std::size_t strategy, double least_gain) {
            const Advice advice =
                advise(m, prospects, registry_, case_.decide->query(), case_.decide->constants, {}, {}, least_gain);
            if (!advice.better.empty()) {
                choose(strategy, prospects.candidates()[advice.better.front().candidate].config.text());
            } else if (advice.standard) {
                choose(strategy, advice.standard->text());
            }
        };
        follow(at("model_or_default"), kLeastGain);
        for (std::size_t i = 0; i < least_gains_.size(); ++i) follow(strategy_names().size() + i, least_gains_[i]);
    }
    void search(const std::string& strategy, const model::Model* m, std::size_t most) {
        SearchOptions options;
        options.most = most;
        const Replay found = replay(*case_.decide, registry_, m, options);
        choose(at(strategy), found.chosen);
        out_.measured[at(strategy)] = static_cast<double>(found.measured);
        out_.time_share[at(strategy)] = found.time_share;
    }
    void choose(std::size_t strategy, const std::string& config) {
        const auto found = case_.b.find(config);
        if (found == case_.b.end()) return;
        out_.efficiency[strategy] = out_.best_us / found->second;
        out_.chosen[strategy] = config;
    }

    const Registry& registry_;
    const Case& case_;
    const std::vector<double>& least_gains_;
    EvaluatedCase out_;
};

// What is chosen for the first graph of a bucket is run on all of them, as a dispatcher does with graphs that live for
// a step; where it may not be, the graph's own choice is.
void choose_by_bucket(const std::vector<Case>& cases, std::vector<std::optional<EvaluatedCase>>& judged) {
    const std::size_t own = strategy_number("model_or_default");
    const std::size_t bucket = strategy_number("bucket");
    std::map<std::pair<Bucket, std::string>, std::string> first;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!judged[i] || judged[i]->chosen[own].empty()) continue;
        const Query query = cases[i].decide->query();
        const std::int64_t longest = cases[i].decide->features->degree_max;
        const std::pair key(bucket_of(query.n_rows, query.n_cols, query.m, longest), to_text(query.problem));
        const auto [found, is_first] = first.emplace(key, judged[i]->chosen[own]);
        if (is_first) continue;
        const auto time = cases[i].b.find(found->second);
        judged[i]->chosen[bucket] = time == cases[i].b.end() ? judged[i]->chosen[own] : found->second;
        judged[i]->efficiency[bucket] = judged[i]->best_us / cases[i].b.at(judged[i]->chosen[bucket]);
    }
}

// A family's graphs, those that are only learnt from among them.
std::vector<std::set<std::string>> families_of(const std::vector<Case>& cases,
                                               const std::vector<TrainingProblem>& learn,
                                               const EvaluateOptions& options) {
    const auto family_of = [&](const TrainingProblem& p) {
        const auto found = options.families.find(p.graph);
        return found == options.families.end() ? "graph " + p.graph : "family " + found->second;
    };
    std::map<std::string, std::set<std::string>> graphs;
    for (const Case& c : cases) graphs[family_of(*c.decide)].insert(c.decide->fingerprint);
    for (const TrainingProblem& p : learn) {
        if (const auto family = graphs.find(family_of(p)); family != graphs.end()) family->second.insert(p.fingerprint);
    }
    std::vector<std::set<std::string>> folds;
    for (auto& [family, members] : graphs) folds.push_back(std::move(members));
    return folds;
}

// Graphs by fold, in the order in which they appear.
std::vector<std::set<std::string>> folds_of(const std::vector<Case>& cases, const std::vector<TrainingProblem>& learn,
                                            const EvaluateOptions& options) {
    if (!options.families.empty()) return families_of(cases, learn, options);
    std::vector<std::string> graphs;
    std::set<std::string> seen;
    for (const Case& c : cases) {
        const bool wanted = options.held_out.empty() || std::find(options.held_out.begin(), options.held_out.end(),
                                                                  c.decide->graph) != options.held_out.end();
        if (wanted && seen.insert(c.decide->fingerprint).second) graphs.push_back(c.decide->fingerprint);
    }
    const bool together = !options.held_out.empty();
    const auto count = together ? 1 : options.folds > 0 ? static_cast<std::size_t>(options.folds) : graphs.size();
    std::vector<std::set<std::string>> folds(std::max<std::size_t>(1, std::min(count, graphs.size())));
    for (std::size_t g = 0; g < graphs.size(); ++g) folds[g % folds.size()].insert(graphs[g]);
    return folds;
}

// All problems of so many graphs, none of them scored.
std::vector<TrainingProblem> drawn(const std::vector<TrainingProblem>& problems, const std::set<std::string>& scored,
                                   int count, std::uint64_t seed) {
    std::vector<std::string> graphs;
    for (const TrainingProblem& p : problems) {
        if (!scored.contains(p.fingerprint) && (graphs.empty() || graphs.back() != p.fingerprint)) {
            graphs.push_back(p.fingerprint);
        }
    }
    std::sort(graphs.begin(), graphs.end());
    graphs.erase(std::unique(graphs.begin(), graphs.end()), graphs.end());
    std::mt19937_64 random(seed);
    const std::size_t taken = std::min(graphs.size(), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < taken; ++i) std::swap(graphs[i], graphs[i + random() % (graphs.size() - i)]);
    graphs.resize(taken);
    std::vector<TrainingProblem> out;
    for (const TrainingProblem& p : problems) {
        if (std::find(graphs.begin(), graphs.end(), p.fingerprint) != graphs.end()) out.push_back(p);
    }
    return out;
}

}  // namespace

Evaluation evaluate(const std::vector<TrainingProblem>& learn, const std::vector<TrainingProblem>& decide,
                    const std::vector<TrainingProblem>& score, const Registry& registry,
                    const EvaluateOptions& options) {
    const std::vector<Case> cases = cases_of(decide, score, registry);
    const auto folds = folds_of(cases, learn, options);
    std::vector<std::optional<EvaluatedCase>> judged(cases.size());
    std::mutex reporting;
    std::size_t done = 0;
    parallel_for(static_cast<std::int64_t>(folds.size()), 1, [&](std::int64_t at) {
        const auto f = static_cast<std::size_t>(at);
        std::vector<TrainingProblem> others;
        for (const TrainingProblem& p : learn) {
            if (!folds[f].contains(p.fingerprint)) others.push_back(p);
        }
        if (others.empty()) return;
        FitOptions fitting = options.fit;
        if (!options.searches) fitting.folds = 0;  // nothing else asks how far off a model is
        std::optional<model::Model> m;
        if (options.models) m = options.known ? *options.known : fit(others, registry, fitting);
        if (m && options.few) {
            const auto known = drawn(decide, folds[f], *options.few, options.fit.seed + f);
            FitOptions correcting = correction_options();
            if (!options.searches) correcting.folds = 0;
            if (!known.empty()) m = refit(*m, known, registry, correcting);
        }
        const std::string fixed = best_static(others);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (!folds[f].contains(cases[i].decide->fingerprint)) continue;
            Judge judge(registry, cases[i], options.least_gains);
            if (m) judge.with_model(*m, options.searches);
            judge.without_model(fixed, options.searches);
            judged[i] = std::move(judge).take();
        }
        const std::lock_guard lock(reporting);
        if (options.progress) options.progress(++done, folds.size());
    });
    choose_by_bucket(cases, judged);
    Evaluation out;
    out.strategies = strategy_names();
    for (const double gain : options.least_gains) {
        char name[48];
        std::snprintf(name, sizeof name, "model_or_default %.3g %%", 100 * gain);
        out.strategies.emplace_back(name);
    }
    out.common = static_cast<int>(cases.size());
    for (auto& c : judged) {
        if (c) out.cases.push_back(std::move(*c));
    }
    return out;
}

std::vector<StrategyScore> scores_of(const Evaluation& evaluation) {
    return scores_of(evaluation, [](const EvaluatedCase&) { return true; });
}

std::vector<StrategyScore> scores_of(const Evaluation& evaluation,
                                     const std::function<bool(const EvaluatedCase&)>& counts) {
    std::vector<StrategyScore> out;
    const std::size_t standing = strategy_number("default");
    for (std::size_t s = 0; s < evaluation.strategies.size(); ++s) {
        StrategyScore score;
        score.name = evaluation.strategies[s];
        score.worst = 1;
        double logs = 0;
        int with_default = 0;
        for (const EvaluatedCase& c : evaluation.cases) {
            const double e = c.efficiency[s];
            if (e <= 0 || !counts(c)) continue;
            ++score.cases;
            logs += std::log(e);
            score.worst = std::min(score.worst, e);
            score.share_95 += e >= 0.95 ? 1 : 0;
            score.top_1 += c.chosen[s] == c.best ? 1 : 0;
            score.measured += c.measured[s];
            score.time_share += c.time_share[s];
            if (c.best_library_us > 0) {
                const double ratio = c.best_library_us * e / c.best_us;
                score.worst_of_library = score.with_library++ > 0 ? std::min(score.worst_of_library, ratio) : ratio;
                // Its own fastest config is not behind it, whichever way that was rounded.
                score.behind_library += ratio < 1 - 1e-9 ? 1 : 0;
            }
            if (const double standard = c.efficiency[standing]; standard > 0) {
                ++with_default;
                score.lost += standard / e > 1 + kLostMargin ? 1 : 0;
            }
        }
        if (score.cases == 0) continue;
        score.geomean = std::exp(logs / score.cases);
        score.share_95 /= score.cases;
        score.top_1 /= score.cases;
        score.measured /= score.cases;
        score.time_share /= score.cases;
        if (with_default > 0) score.lost /= with_default;
        out.push_back(score);
    }
    return out;
}

}  // namespace gnntune::tuner
