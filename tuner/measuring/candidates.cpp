#include "tuner/measuring/candidates.hpp"

#include <map>
#include <string>
#include <utility>

#include "tuner/measuring/standing.hpp"

namespace gnntune::tuner {

Choice choice_of(const Registry& registry, const std::vector<Candidate>& candidates, const Decision& decision) {
    const Candidate& winner = candidates[*decision.winner];
    Choice choice;
    choice.config = winner.config;
    choice.variant_version = registry.find(winner.config.variant)->version;
    choice.source = "measured";
    choice.reason = decision.reason;
    choice.expected_us = winner.median_us;
    for (const std::size_t i : decision.tied) choice.tied.push_back(candidates[i].config);
    return choice;
}

std::vector<Candidate> candidates_of(const Registry& registry, const Query& query, const std::vector<Measurement>& rows,
                                     const std::optional<Choice>& before) {
    std::map<std::string, Candidate> newest;
    for (const Measurement& m : rows) {
        const Variant* v = registry.find(m.config.variant);
        if (!v || v->version != m.variant_version) continue;
        const std::string text = m.config.text();
        newest.erase(text);
        if (m.status != MeasurementStatus::ok || !stands(registry, query, m)) continue;
        Candidate c;
        c.config = m.config;
        c.median_us = m.median_us;
        c.ci_low_us = m.ci_low_us;
        c.ci_high_us = m.ci_high_us;
        c.build_us = m.prepare_us;
        c.format_bytes = m.format_bytes;
        c.workspace_bytes = m.workspace_bytes;
        c.operand_alignment = v->operand_alignment;
        c.deterministic = m.deterministic;
        c.capturable = may_be_captured(registry, m);
        c.approximate = v->approximate;
        c.precision = v->precision;
        c.max_error = m.max_error;
        c.incumbent = before && before->config == m.config && before->variant_version == m.variant_version;
        newest.emplace(text, std::move(c));
    }
    std::vector<Candidate> out;
    for (auto& [text, c] : newest) out.push_back(std::move(c));
    return out;
}

}  // namespace gnntune::tuner
