// Which configs come into question for a problem, and in which order.
#include "tuner/tune_space.hpp"

#include <algorithm>
#include <optional>

#include "core/common/error.hpp"
#include "tuner/measuring/candidates.hpp"
#include "tuner/recall.hpp"

namespace gnntune::tuner {
namespace {

// A rough time of a call before anything is known of the device; never shown as a measurement. On a CPU a core moves
// some 10 GB/s and spends some 4 ns on an edge that it has no bytes to wait for, as spmm to gat did on one core of a
// Xeon; more than eight cores share what the memory has.
double assumed_us(const Device& device, const Query& query, const CostTerms& terms) {
    const double bytes = std::max(terms.dram_bytes, terms.l2_bytes / 3) + terms.reduction_bytes;
    const double launches_us = 3.0 * terms.launches;
    if (device.backend == Backend::cuda) return bytes / 1500e3 + launches_us;
    const double cores = std::clamp(device.multiprocessors, 1, 8);
    return (bytes / 10e3 + static_cast<double>(query.m) * 4e-3) / cores + launches_us;
}
/// Measured configs of a part that a composition is tried with.
constexpr std::size_t kOfferedParts = 3;

}  // namespace

// A composition's own space, and each of its parts exchanged for the three configs that were measured fastest for it.
std::vector<Params> Tuner::offered(GraphWorkload& graph, const Variant& v, const Query& query) const {
    std::vector<Params> all = v.space(query);
    if (!v.parts) return all;
    const auto graph_id = store_.find_graph_id(graph.graph().fingerprint());
    const auto environment_id = store_.find_environment_id(device_.environment);
    if (!graph_id || !environment_id) return all;
    Params best = v.default_params(query);
    std::vector<std::pair<std::string, std::string>> others;
    for (const Part& part : v.parts(query)) {
        const auto problem_id = store_.find_problem_id(part.problem);
        if (!problem_id) continue;
        const Query part_query = graph.graph().query(part.problem);
        auto measured =
            candidates_of(registry_, part_query, store_.measurements({*graph_id, *environment_id, *problem_id}));
        std::erase_if(measured, [&](const Candidate& c) { return !may_be_part(*registry_.find(c.config.variant), v); });
        std::sort(measured.begin(), measured.end(),
                  [](const Candidate& a, const Candidate& b) { return a.median_us < b.median_us; });
        for (std::size_t i = 0; i < std::min(kOfferedParts, measured.size()); ++i) {
            const std::string text = measured[i].config.text();
            if (i == 0) {
                best.set(part.param, text);
            } else {
                others.emplace_back(part.param, text);
            }
        }
    }
    std::vector<Params> more{best};
    for (const auto& [param, text] : others) {
        more.push_back(best);
        more.back().set(param, text);
    }
    for (Params& params : more) {
        if (v.valid(query, params) && std::find(all.begin(), all.end(), params) == all.end()) all.push_back(params);
    }
    return all;
}

store::Attempt Tuner::attempt_of(GraphWorkload& graph, const Query& query, const Config& config, Policy policy,
                                 Clock clock) const {
    const Variant& v = *registry_.find(config.variant);
    store::Attempt attempt{config.text(), v.version, policy, clock, {}};
    if (v.parts) attempt.parts = store::parts_text(parts_of(graph.graph(), v, query, config.params));
    return attempt;
}

Tuner::Space Tuner::space_of(GraphWorkload& graph, const Problem& problem, const TuneOptions& options) const {
    graph.graph().features();  // cost terms and applicability may ask for them
    const Query query = graph.graph().query(problem);
    if (!options.configs.empty()) return named(graph, query, options.configs);
    Space space;
    Config standard;
    try {
        standard = registry_.default_config(query, {});
    } catch (const Error& e) {
        space.no_default = e.what();  // approximate variants may still do it
    }
    std::vector<Contender> kept;  // though no ratio needs them
    std::vector<Contender> rest;
    for (const Variant& v : registry_.variants()) {
        if (v.op != problem.op || v.backend != device_.backend) continue;
        const bool is_named =
            std::find(options.variants.begin(), options.variants.end(), v.id) != options.variants.end();
        if (!options.variants.empty() && !is_named) continue;
        if (v.sampling && !is_named && !options.constraints.allow_sampling) continue;
        if (const Verdict verdict = registry_.applicable(v, query); !verdict) {
            space.refusals.emplace_back(&v, verdict.reason);
            continue;
        }
        const Params variant_default = v.default_params(query);
        for (const Params& params : offered(graph, v, query)) {
            Contender c;
            c.config = {v.id, params};
            try {
                const auto parts = parts_of(graph.graph(), v, query, params);
                if (!erratum_words(registry_, query, v, params, parts).empty()) {
                    ++space.errata;
                    continue;
                }
            } catch (const Error& e) {
                space.refusals.emplace_back(&v, e.what());
                continue;
            }
            const bool is_default = c.config == standard;
            c.keep = is_default || ((v.baseline || is_named) && params == variant_default);
            space.estimate_us += assumed_us(device_, query, v.cost_terms(query, params));
            const bool for_ratios = is_default || is_named || v.precision == Precision::fp32;
            auto& list = !c.keep ? rest : for_ratios ? space.contenders : kept;
            list.insert(is_default ? list.begin() : list.end(), std::move(c));
        }
    }
    if (options.every_format) cover_formats(graph, query, options.constraints, space.contenders, rest);
    space.first = space.contenders.size();
    for (auto* list : {&kept, &rest}) {
        space.contenders.insert(space.contenders.end(), std::make_move_iterator(list->begin()),
                                std::make_move_iterator(list->end()));
    }
    if (space.contenders.empty() && !options.variants.empty()) {
        space.no_default = "none of the variants that were named can do " + to_text(problem);
        for (const auto& [variant, reason] : space.refusals) {
            space.no_default.append("; ").append(variant->id).append(": ").append(reason);
        }
    }
    return space;
}

Tuner::Space Tuner::named(GraphWorkload& graph, const Query& query, const std::vector<Config>& configs) const {
    Space space;
    for (const Config& config : configs) {
        const Variant& v = resolve(registry_, query, config);
        const auto words =
            erratum_words(registry_, query, v, config.params, parts_of(graph.graph(), v, query, config.params));
        if (!words.empty()) throw unsupported(config.text() + " is not measured: " + words);
        Contender c;
        c.config = config;
        c.keep = true;
        space.contenders.push_back(std::move(c));
    }
    return space;
}

void Tuner::recall(Space& space, GraphWorkload& graph, const Problem& problem, Policy policy, Clock clock) const {
    space.recalled.clear();
    const Query query = graph.graph().query(problem);
    for (const Config& config : recalled(store_, registry_, query, graph.graph().fingerprint(), policy, clock)) {
        const auto found = std::find_if(space.contenders.begin(), space.contenders.end(),
                                        [&](const Contender& c) { return c.config == config; });
        if (found == space.contenders.end()) continue;
        // A tuning that is cut short is no worse than none.
        if (space.recalled.empty()) space.recalled.push_back(0);
        const auto place = static_cast<std::size_t>(found - space.contenders.begin());
        if (place > 0) space.recalled.push_back(place);
    }
}

}  // namespace gnntune::tuner
