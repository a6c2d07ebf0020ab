#include "tuner/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/common/error.hpp"
#include "core/common/numbers.hpp"
#include "core/common/parallel_for.hpp"
#include "tuner/boosted_trees.hpp"
#include "tuner/rates.hpp"

namespace gnntune::tuner {
namespace {

using model::Forest;
using model::ParamCodes;

bool is_number(const std::string& text) {
    return parse_number<double>(text).has_value();
}

// One learner's rows: features, target, how much each counts, and which graph it is of.
struct Rows {
    Eigen::ArrayXXf x;
    Eigen::ArrayXf y;
    Eigen::ArrayXf weight;
    std::vector<int> graph;
};

// `points` are rows of the named features one after the other. A constant one splits nothing.
Rows rows_of(const std::vector<float>& points, const std::vector<std::string>& names, const std::vector<float>& y,
             std::vector<int> graph, const std::set<std::string>& without) {
    Rows rows;
    rows.graph = std::move(graph);
    rows.x = Eigen::Map<const Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        points.data(), static_cast<Eigen::Index>(y.size()), static_cast<Eigen::Index>(names.size()));
    for (std::size_t f = 0; f < names.size(); ++f) {
        if (without.contains(names[f])) rows.x.col(static_cast<Eigen::Index>(f)).setZero();
    }
    rows.y = Eigen::Map<const Eigen::ArrayXf>(y.data(), static_cast<Eigen::Index>(y.size()));
    rows.weight = Eigen::ArrayXf::Ones(rows.y.size());
    return rows;
}

double says(const Forest& forest, const Rows& rows, Eigen::Index row) {
    const Eigen::ArrayXf point = rows.x.row(row);
    double sum = 0;
    model::add(forest, {{point.data(), static_cast<std::size_t>(point.size())}, {}, 1}, {&sum, 1});
    return sum;
}

double says(const std::vector<Forest>& forests, const Rows& rows, Eigen::Index row) {
    double sum = 0;
    for (const Forest& f : forests) sum += says(f, rows, row) / static_cast<double>(forests.size());
    return sum;
}

// The sum of both.
Forest behind(Forest first, const Forest& then) {
    first.start += then.start;
    first.depths.insert(first.depths.end(), then.depths.begin(), then.depths.end());
    first.splits.insert(first.splits.end(), then.splits.begin(), then.splits.end());
    first.leaves.insert(first.leaves.end(), then.leaves.begin(), then.leaves.end());
    return first;
}

// Members differ by what their trees draw of rows and features. Graphs drawn with replacement instead, as forests do,
// were tried: with few graphs each member misses a third of them, and choices were two percent worse.
// With forests that are `known` each stands in front of what was left of it.
std::vector<Forest> members(const Rows& rows, const std::vector<bool>& used, const FitOptions& options,
                            std::uint64_t seed, const std::vector<Forest>& known) {
    Eigen::ArrayXf weight = rows.weight;
    for (Eigen::Index r = 0; r < weight.size(); ++r) {
        if (!used[static_cast<std::size_t>(rows.graph[static_cast<std::size_t>(r)])]) weight(r) = 0;
    }
    std::vector<Forest> out;
    std::mt19937_64 random(seed);
    const std::size_t count = known.empty() ? static_cast<std::size_t>(options.members) : known.size();
    for (std::size_t i = 0; i < count; ++i) {
        BoostOptions trees = options.trees;
        trees.seed = random();
        if (known.empty()) {
            out.push_back(fit_boosted_trees(rows.x, rows.y, weight, trees));
            continue;
        }
        Eigen::ArrayXf left = rows.y;
        for (Eigen::Index r = 0; r < left.size(); ++r) left(r) -= static_cast<float>(says(known[i], rows, r));
        out.push_back(behind(known[i], fit_boosted_trees(rows.x, left, weight, trees)));
    }
    return out;
}

// A config slower by the factor f counts f^-2 where rates are fitted: those of slow ones say what not to expect.
constexpr double kRoughFocus = 2;

// Of the logarithm, where one graph is all there is: a model that has seen no other is not to be trusted blindly.
constexpr float kUnknownSpread = 0.5F;

// Root of the mean squared error, rows counted by their weights, on graphs that were left out of the fit, fold by fold.
float spread(const Rows& rows, std::size_t graphs, const FitOptions& options, std::uint64_t seed,
             const std::vector<Forest>& known) {
    if (options.folds < 2) return 0;
    if (graphs < 2) return kUnknownSpread;
    const int folds = std::min(options.folds, static_cast<int>(graphs));
    double squares = 0;
    for (int fold = 0; fold < folds; ++fold) {
        std::vector<bool> used(graphs);
        for (std::size_t g = 0; g < graphs; ++g) used[g] = static_cast<int>(g) % folds != fold;
        FitOptions one = options;
        one.members = 1;
        const auto forests = members(rows, used, one, seed, known);
        for (Eigen::Index r = 0; r < rows.y.size(); ++r) {
            if (used[static_cast<std::size_t>(rows.graph[static_cast<std::size_t>(r)])]) continue;
            const double error = says(forests, rows, r) - rows.y(r);
            squares += double{rows.weight(r)} * error * error;
        }
    }
    return static_cast<float>(std::sqrt(squares / std::max(1e-30, double{rows.weight.sum()})));
}

ParamCodes codes_of(const std::vector<const Config*>& configs) {
    std::map<std::string, std::set<std::string>> values;
    for (const Config* c : configs) {
        for (const auto& [name, value] : c->params.values()) values[name].insert(value);
    }
    ParamCodes codes;
    for (const auto& [name, texts] : values) {
        ParamCodes::Param p{name, {}};
        if (!std::all_of(texts.begin(), texts.end(), is_number)) p.words.assign(texts.begin(), texts.end());
        codes.params.push_back(std::move(p));
    }
    return codes;
}

// A kind counts as learnt from if so many of the graphs have it: one tuning in passing teaches nothing.
constexpr std::size_t kLeastShare = 10;  // a tenth

model::Kinds kinds_of(const std::vector<TrainingProblem>& problems, const std::vector<int>& graph, std::size_t graphs) {
    model::Kinds kinds = model::Kinds::none();
    const auto learnt = [&](const auto& is) {
        std::set<int> with;
        for (std::size_t i = 0; i < problems.size(); ++i) {
            if (is(problems[i].problem)) with.insert(graph[i]);
        }
        return !with.empty() && with.size() * kLeastShare >= graphs;
    };
    kinds.f32 = learnt([](const Problem& p) { return size_of(p.dtype) == 4; });
    kinds.narrow = learnt([](const Problem& p) { return size_of(p.dtype) < 4; });
    kinds.sums = learnt([](const Problem& p) { return p.reduce != Reduce::max; });
    kinds.maxima = learnt([](const Problem& p) { return p.reduce == Reduce::max; });
    kinds.weighted = learnt([](const Problem& p) { return p.weighted; });
    kinds.unweighted = learnt([](const Problem& p) { return !p.weighted; });
    return kinds;
}

class Fitter {
public:
    Fitter(const std::vector<TrainingProblem>& problems, const Registry& registry, const FitOptions& options,
           const model::Model* known = nullptr)
        : problems_(problems), registry_(registry), options_(options), known_(known) {
        std::map<std::string, int> numbers;
        for (const TrainingProblem& p : problems) {
            const auto [at, fresh] = numbers.emplace(p.fingerprint, static_cast<int>(numbers.size()));
            graph_.push_back(at->second);
            shared_.push_back(model::problem_features(p.query(), p.constants));
        }
        graphs_ = numbers.size();
        if (!known) options_.trees.trees = trees_of(options, problems.size());
    }

    model::Model fit() const {
        model::Model m;
        m.op = problems_.front().problem.op;
        m.backend = problems_.front().device.backend;
        m.kinds = known_ ? known_->kinds : kinds_of(problems_, graph_, graphs_);
        fit_level(m);
        std::set<std::string> ids;
        for (const TrainingProblem& p : problems_) {
            for (const TimedConfig& c : p.configs) ids.insert(c.config.variant);
        }
        std::vector<const Variant*> variants;
        for (const std::string& id : ids) variants.push_back(registry_.find(id));
        const auto count = static_cast<std::int64_t>(variants.size());
        std::vector<std::vector<float>> rates(variants.size());
        parallel_for(count, 1, [&](std::int64_t v) {
            rates[static_cast<std::size_t>(v)] = rates_of(*variants[static_cast<std::size_t>(v)]);
        });
        std::vector<model::Rated> rated;
        for (std::size_t v = 0; v < variants.size(); ++v) rated.push_back({variants[v], &rates[v]});
        const std::vector<model::RoughGaps> rough = gaps_of(known_ ? rated_of(*known_, registry_) : rated);
        m.variants.resize(variants.size());
        parallel_for(count, 1, [&](std::int64_t at) {
            const auto v = static_cast<std::size_t>(at);
            m.variants[v] = fit_variant(*variants[v], rates[v], rough);
        });
        if (!known_) return m;
        for (const model::VariantModel& v : known_->variants) {
            if (!ids.contains(v.id)) m.variants.push_back(v);
        }
        std::sort(m.variants.begin(), m.variants.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
        return m;
    }

private:
    void fit_level(model::Model& m) const {
        std::vector<float> points;
        std::vector<float> y;
        for (std::size_t i = 0; i < problems_.size(); ++i) {
            points.insert(points.end(), shared_[i].begin(), shared_[i].end());
            y.push_back(static_cast<float>(problems_[i].best_log_us -
                                           model::base_log_us(problems_[i].query(), problems_[i].constants)));
        }
        const Rows rows = rows_of(points, model::problem_feature_names(), y, graph_, options_.without);
        const std::vector<Forest> known = known_ ? known_->level : std::vector<Forest>();
        FitOptions one = options_;
        one.members = 1;
        m.level = members(rows, std::vector<bool>(graphs_, true), one, options_.seed, known);
        m.level_spread = spread(rows, graphs_, options_, options_.seed, known);
    }

    // What is known keeps its rates. A library's routine has none: what it does, its cost terms do not tell.
    std::vector<float> rates_of(const Variant& variant) const {
        if (known_) {
            const model::VariantModel* known = known_->find(variant.id, variant.version);
            return known ? known->rates : std::vector<float>();
        }
        if (variant.baseline || !variant.cost_terms || options_.without.contains(model::kRoughGap)) return {};
        std::vector<RoughRow> rows;
        for (const TrainingProblem& p : problems_) {
            const Query query = p.query();
            const model::RoughProblem problem(query, p.constants);
            model::PlainTerms plain(query, registry_);
            for (const TimedConfig& c : p.configs) {
                if (c.config.variant != variant.id) continue;
                const double slowdown = std::clamp(std::log(c.us) - p.best_log_us, 0.0, options_.worst);
                rows.push_back(
                    {problem.terms(plain.of(variant, c.config.params)), c.us, std::exp(-kRoughFocus * slowdown)});
            }
        }
        return fit_rates(rows);
    }

    // Of each problem.
    std::vector<model::RoughGaps> gaps_of(const std::vector<model::Rated>& rated) const {
        std::vector<model::RoughGaps> out;
        for (const TrainingProblem& p : problems_) {
            const Query query = p.query();
            model::PlainTerms plain(query, registry_);
            out.emplace_back(plain, p.constants, rated);
        }
        return out;
    }

    model::VariantModel fit_variant(const Variant& variant, const std::vector<float>& rates,
                                    const std::vector<model::RoughGaps>& rough) const {
        std::vector<const Config*> configs;
        for (const TrainingProblem& p : problems_) {
            for (const TimedConfig& c : p.configs) {
                if (c.config.variant == variant.id) configs.push_back(&c.config);
            }
        }
        model::VariantModel v;
        v.id = variant.id;
        v.version = variant.version;
        const model::VariantModel* known = known_ ? known_->find(variant.id, variant.version) : nullptr;
        v.codes = known ? known->codes : codes_of(configs);
        v.rates = rates;
        std::vector<float> points;
        std::vector<float> y;
        std::vector<float> first;       // what a prediction begins with
        std::vector<float> behind_own;  // how much slower than the variant's fastest on the problem
        std::vector<int> graph;
        double near = 0;
        for (std::size_t i = 0; i < problems_.size(); ++i) {
            const Query query = problems_[i].query();
            const model::ConfigFeatures features(query, model::base_log_us(query, problems_[i].constants));
            model::PlainTerms plain(query, registry_);
            const auto before = static_cast<std::ptrdiff_t>(behind_own.size());
            for (const TimedConfig& c : problems_[i].configs) {
                if (c.config.variant != variant.id) continue;
                points.insert(points.end(), shared_[i].begin(), shared_[i].end());
                const std::size_t own = points.size();
                points.resize(own + static_cast<std::size_t>(model::config_width(v.codes)));
                const CostTerms terms = plain.of(variant, c.config.params);
                const float gap = rough[i].gap(terms, v.rates);
                features.write(terms, v.codes, model::coded_params(c.config.params, v.codes), gap, points.data() + own);
                first.push_back(static_cast<float>(model::kRoughShare) * gap);
                const double slowdown = std::log(c.us) - problems_[i].best_log_us;
                y.push_back(static_cast<float>(std::min(options_.worst, slowdown)));
                behind_own.push_back(static_cast<float>(slowdown));
                graph.push_back(graph_[i]);
            }
            const auto own = behind_own.begin() + before;
            if (own == behind_own.end()) continue;
            const float fastest = *std::min_element(own, behind_own.end());
            near += std::exp(-options_.focus * double{fastest});
            std::for_each(own, behind_own.end(), [&](float& slowdown) { slowdown -= fastest; });
        }
        std::vector<std::string> names = model::problem_feature_names();
        for (std::string& name : model::config_feature_names(v.codes)) names.push_back(std::move(name));
        Rows rows = rows_of(points, names, y, std::move(graph), options_.without);
        const std::vector<Forest> before = known ? known->slowdown : std::vector<Forest>();
        // What is known to be fast and is slow here is what misleads.
        Eigen::ArrayXf counts = rows.y.max(0.0F);
        if (known) {
            for (Eigen::Index r = 0; r < counts.size(); ++r) {
                const float said = first[static_cast<std::size_t>(r)] + static_cast<float>(says(before, rows, r));
                counts(r) = std::min(counts(r), std::max(0.0F, said));
            }
        }
        const auto focus = static_cast<float>(options_.focus);
        rows.weight = (-focus * counts).exp();
        if (!known) {
            const Eigen::Map<const Eigen::ArrayXf> behind(behind_own.data(), counts.size());
            rows.weight = rows.weight.max(static_cast<float>(options_.least) * (-focus * behind).exp());
        }
        rows.y -= Eigen::Map<const Eigen::ArrayXf>(first.data(), rows.y.size());
        const bool is_near = near >= kNear * static_cast<double>(problems_.size());
        const FitOptions options = known ? options_ : options_of_new(is_near);
        v.slowdown = members(rows, std::vector<bool>(graphs_, true), options, options_.seed + 1, before);
        v.spread = spread(rows, graphs_, options, options_.seed + 1, before);
        return v;
    }

    // Of a variant that is not known: it is fitted as fit() would, to few problems too.
    FitOptions options_of_new(bool is_near) const {
        FitOptions options = options_;
        if (known_) options.trees = FitOptions().trees;
        if (is_near) return options;
        options.members = 1;
        options.trees.trees = std::max(1, options.trees.trees / kFarTrees);
        options.trees.learning_rate = std::min(1.0F, options.trees.learning_rate * kFarRate);
        return options;
    }

    const std::vector<TrainingProblem>& problems_;
    const Registry& registry_;
    FitOptions options_;
    const model::Model* known_ = nullptr;  // what is corrected
    std::vector<int> graph_;               // of each problem
    std::vector<std::vector<float>> shared_;
    std::size_t graphs_ = 0;
};

}  // namespace

namespace {

void check(const std::vector<TrainingProblem>& problems) {
    if (problems.empty()) {
        throw invalid_argument("fit: expected measured problems, got none; tune graphs first (gnntune tune)");
    }
    for (const TrainingProblem& p : problems) {
        if (p.problem.op != problems.front().problem.op || p.device.backend != problems.front().device.backend) {
            throw invalid_argument("fit: expected problems of one op and backend; fit a model for each");
        }
    }
}

}  // namespace

int trees_of(const FitOptions& options, std::size_t problems) {
    const auto most = static_cast<std::size_t>(std::max(0, options.most_trees));
    return std::max(options.trees.trees, static_cast<int>(std::min(problems / kProblemsPerTree, most)));
}

model::Model fit(const std::vector<TrainingProblem>& problems, const Registry& registry, const FitOptions& options) {
    check(problems);
    return Fitter(problems, registry, options).fit();
}

FitOptions correction_options() {
    FitOptions options;
    options.trees = {.trees = 60, .depth = 3, .learning_rate = 0.1F, .prior = 1};
    return options;
}

model::Model refit(const model::Model& known, const std::vector<TrainingProblem>& problems, const Registry& registry,
                   const FitOptions& options) {
    check(problems);
    if (known.op != problems.front().problem.op || known.backend != problems.front().device.backend) {
        throw invalid_argument("refit: expected a model of the problems' op and backend");
    }
    return Fitter(problems, registry, options, &known).fit();
}

}  // namespace gnntune::tuner
