// Which configs come into question for a problem, and in which order.
#include <algorithm>
#include <iterator>

#include "core/common/error.hpp"
#include "core/dispatch/candidates.hpp"
#include "core/registry/resolve.hpp"
#include "tuner/measuring/measurable.hpp"
#include "tuner/recall.hpp"
#include "tuner/tune_session.hpp"

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
std::vector<Params> TuneSession::offered(const Variant& v, const Query& query) const {
    std::vector<Params> all = v.space(query);
    if (!v.parts) return all;
    if (!graph_id_ || !environment_id_) return all;
    Params best = v.default_params(query);
    std::vector<std::pair<std::string, std::string>> others;
    for (const Part& part : v.parts(query)) {
        const auto problem_id = store_.find_problem_id(part.problem);
        if (!problem_id) continue;
        auto measured = candidates_of(registry_, query_.with(part.problem),
                                      store_.measurements({*graph_id_, *environment_id_, *problem_id}));
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

TuneSession::Space TuneSession::space_of(const Problem& problem) const {
    const Query query = query_.with(problem);
    Space space = options_.configs.empty() ? space_of_variants(query) : space_of_named(query);
    for (const Policy policy : options_.policies) {
        for (const Clock clock : options_.clocks) space.recalled[{policy, clock}] = recalled_of(space, policy, clock);
    }
    return space;
}

TuneSession::Space TuneSession::space_of_variants(const Query& query) const {
    Space space;
    space.query = query;
    Config standard;
    try {
        standard = registry_.default_config(query, {});
    } catch (const Error& e) {
        space.no_default = e.what();  // approximate variants may still do it
    }
    const auto is_named = [&](const Variant& v) {
        return std::find(options_.variants.begin(), options_.variants.end(), v.id) != options_.variants.end();
    };
    const auto wanted = [&](const Variant& v) {
        if (!options_.variants.empty()) return is_named(v);
        return !v.sampling || options_.constraints.allow_sampling;
    };
    Measurable measurable = measurable_configs(registry_, query, wanted, [&](const Variant& v) {
        space.of_rows = space.of_rows || v.parts != nullptr;
        std::vector<Params> params = offered(v, query);
        return params.empty() && is_named(v) ? space_or_default(v, query) : params;
    });
    space.refusals = std::move(measurable.refusals);
    space.errata = measurable.held_back;
    std::vector<Contender> kept;  // though no ratio needs them
    std::vector<Contender> rest;
    for (Config& config : measurable.configs) {
        const Variant& v = *registry_.find(config.variant);
        Contender c;
        c.config = std::move(config);
        const bool is_default = c.config == standard;
        c.keep = is_default || ((v.baseline || is_named(v)) && c.config.params == v.default_params(query));
        space.estimate_us += assumed_us(device_, query, v.cost_terms(query, c.config.params));
        const bool for_ratios = is_default || is_named(v) || v.precision == Precision::fp32;
        auto& list = !c.keep ? rest : for_ratios ? space.contenders : kept;
        list.insert(is_default ? list.begin() : list.end(), std::move(c));
    }
    if (options_.every_format) cover_formats(query, space.contenders, rest);
    space.first = space.contenders.size();
    for (auto* list : {&kept, &rest}) {
        space.contenders.insert(space.contenders.end(), std::make_move_iterator(list->begin()),
                                std::make_move_iterator(list->end()));
    }
    if (space.contenders.empty() && !options_.variants.empty()) {
        space.no_default = "none of the variants that were named can do " + to_text(query.problem);
        for (const auto& [variant, reason] : space.refusals) {
            space.no_default.append("; ").append(variant->id).append(": ").append(reason);
        }
    }
    return space;
}

TuneSession::Space TuneSession::space_of_named(const Query& query) const {
    Space space;
    space.query = query;
    for (const Config& config : options_.configs) {
        const Variant& v = resolve(registry_, query, config);
        const auto words =
            erratum_words(registry_, query, v, config.params, parts_of(registry_, query, v, config.params));
        if (!words.empty()) throw unsupported(config.text() + " is not measured: " + words);
        Contender c;
        c.config = config;
        c.keep = true;
        space.contenders.push_back(std::move(c));
    }
    return space;
}

std::vector<std::size_t> TuneSession::recalled_of(const Space& space, Policy policy, Clock clock) const {
    std::vector<std::size_t> out;
    for (const Config& config : recalled(store_, registry_, space.query, record_.fingerprint, policy, clock)) {
        const auto found = std::find_if(space.contenders.begin(), space.contenders.end(),
                                        [&](const Contender& c) { return c.config == config; });
        if (found == space.contenders.end()) continue;
        // A tuning that is cut short is no worse than none.
        if (out.empty()) out.push_back(0);
        const auto place = static_cast<std::size_t>(found - space.contenders.begin());
        if (place > 0) out.push_back(place);
    }
    return out;
}

}  // namespace gnntune::tuner
