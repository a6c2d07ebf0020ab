#include "tuner/measuring/guide.hpp"

#include <algorithm>
#include <cmath>

#include "core/graph/formats.hpp"

namespace gnntune::tuner {
namespace {

// As docs/measuring.md, "Search", has seen it.
constexpr std::size_t kExpectedWithModel = 10;
constexpr double kExpectedShareWithout = 0.5;
// Few configs, as ops have on a CPU, are measured nearly all.
constexpr std::size_t kExpectedOfFew = 16;

}  // namespace

bool may_be_chosen(const Variant& variant, const Params& params, const Constraints& constraints) {
    Candidate c = unmeasured(variant, params);
    c.max_error = 0;  // measuring it will tell
    return !refusal(c, constraints);
}

double per_call_us(double us, double build_us, const Constraints& constraints) {
    return us + build_us / std::max(1.0, constraints.expected_calls);
}

std::vector<SearchConfig> search_configs(const Registry& registry, const Query& query,
                                         const std::vector<Config>& configs, const Outlook& outlook) {
    std::vector<SearchConfig> out;
    for (const Config& config : configs) {
        const Variant& v = *registry.find(config.variant);
        SearchConfig c;
        c.config = config;
        c.may_win = may_be_chosen(v, config.params, outlook.constraints);
        c.standard = config.params == v.default_params(query);
        out.push_back(std::move(c));
    }
    if (!outlook.model) return out;
    for (const model::Prediction& p : model::predict(*outlook.model, registry, query, outlook.constants, configs)) {
        const auto formats = registry.find(configs[p.config].variant)->formats(configs[p.config].params);
        const double build_us = total_build_us(outlook.builds, formats, kFormatCsr, query.problem.direction);
        out[p.config].log_us = std::log(per_call_us(std::exp(p.log_us), build_us, outlook.constraints));
        out[p.config].sigma = p.sigma;
    }
    return out;
}

std::size_t expected_search(std::size_t configs, bool with_model) {
    if (with_model) return std::min(configs, kExpectedWithModel);
    const auto share = static_cast<std::size_t>(std::ceil(kExpectedShareWithout * static_cast<double>(configs)));
    return std::max(share, std::min(configs, kExpectedOfFew));
}

}  // namespace gnntune::tuner
