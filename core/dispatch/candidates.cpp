#include "core/dispatch/candidates.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/registry/resolve.hpp"

namespace gnntune {
namespace {

MeasuredRow row_of(const Measurement& m) {
    MeasuredRow row;
    row.config = m.config;
    row.variant_version = m.variant_version;
    row.parts = m.parts;
    row.median_us = m.median_us;
    row.ci_low_us = m.ci_low_us;
    row.ci_high_us = m.ci_high_us;
    row.build_us = m.prepare_us;
    row.format_bytes = m.format_bytes;
    row.workspace_bytes = m.workspace_bytes;
    row.deterministic = m.deterministic;
    row.max_error = m.max_error;
    return row;
}

/// Whether the registry names another config than that for a part's problem, while that one can run.
bool is_other(const Registry& registry, const Query& query, const Config& config) {
    try {
        resolve(registry, query, config);
        return registry.default_part(query) != config;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::string why_fallen(const Registry& registry, const Query& query, const Config& config, std::int32_t variant_version,
                       const std::vector<PartVersion>& parts) {
    const Variant* variant = registry.find(config.variant);
    if (!variant) return "this build has no variant '" + config.variant + "'";
    if (variant->version != variant_version) {
        return "measured with version " + std::to_string(variant_version) + ", this build has version " +
               std::to_string(variant->version);
    }
    for (const PartVersion& part : parts) {
        const Variant* known = registry.find(part.config.variant);
        if (known && known->version == part.variant_version) continue;
        return "its part " + part.config.text() + " was measured with version " + std::to_string(part.variant_version) +
               ", this build has " + (known ? "version " + std::to_string(known->version) : std::string("none"));
    }
    Verdict verdict = registry.applicable(*variant, query);
    if (verdict) verdict = variant->valid(query, config.params);
    if (!verdict) return verdict.reason;
    const std::string erratum = erratum_words(registry, query, *variant, config.params, parts);
    return erratum.empty() ? erratum : "must not run: " + erratum + "; `gnntune db errata` lists them";
}

bool stands(const Registry& registry, const Query& query, const Measurement& m) {
    return why_fallen(registry, query, m.config, m.variant_version, m.parts).empty();
}

Config as_measured(const Registry& registry, const Query& query, const Config& config,
                   const std::vector<PartVersion>& parts) {
    const Variant* variant = registry.find(config.variant);
    const auto declared = variant && variant->parts ? variant->parts(query) : std::vector<Part>();
    if (declared.size() != parts.size()) return config;
    Config out = config;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Part& part = declared[i];
        const std::string* given = config.params.find(part.param);
        if ((given ? *given : part.standard) != "default") continue;
        if (!is_other(registry, query.with(part.problem), parts[i].config)) continue;
        out.params.set(part.param, parts[i].config.text());
    }
    return out;
}

bool may_be_captured(const Registry& registry, const Config& config, const std::vector<PartVersion>& parts) {
    const auto may = [&](const Config& one) {
        const Variant* v = registry.find(one.variant);
        return v && (!v->capturable || v->capturable(one.params));
    };
    return may(config) &&
           std::all_of(parts.begin(), parts.end(), [&](const PartVersion& part) { return may(part.config); });
}

std::optional<Candidate> candidate_of(const Registry& registry, const Query& query, MeasuredRow row,
                                      std::string& reason) {
    reason = why_fallen(registry, query, row.config, row.variant_version, row.parts);
    if (!reason.empty()) return std::nullopt;
    const Variant& v = *registry.find(row.config.variant);
    Candidate c;
    c.median_us = row.median_us;
    c.ci_low_us = row.ci_low_us;
    c.ci_high_us = row.ci_high_us;
    c.build_us = row.build_us;
    c.format_bytes = row.format_bytes;
    c.workspace_bytes = row.workspace_bytes;
    c.operand_alignment = v.operand_alignment;
    c.deterministic = row.deterministic && v.deterministic(row.config.params);
    c.capturable = may_be_captured(registry, row.config, row.parts);
    c.approximate = v.approximate;
    c.precision = v.precision;
    c.max_error = row.max_error;
    c.incumbent = row.incumbent;
    c.config = std::move(row.config);
    return c;
}

std::vector<Candidate> candidates_of(const Registry& registry, const Query& query, const std::vector<Measurement>& rows,
                                     const std::optional<Choice>& before) {
    std::map<std::string, Candidate> newest;
    for (const Measurement& m : rows) {
        const Variant* v = registry.find(m.config.variant);
        if (!v || v->version != m.variant_version) continue;
        const std::string text = m.config.text();
        newest.erase(text);
        if (m.status != MeasurementStatus::ok) continue;
        MeasuredRow row = row_of(m);
        row.incumbent = before && before->config == m.config && before->variant_version == m.variant_version;
        std::string reason;
        if (auto c = candidate_of(registry, query, std::move(row), reason)) newest.emplace(text, *std::move(c));
    }
    std::vector<Candidate> out;
    for (auto& [text, c] : newest) out.push_back(std::move(c));
    return out;
}

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

}  // namespace gnntune
