#include "profiles/library/review.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "core/dispatch/build_cost.hpp"

namespace gnntune::library {
namespace {

/// Why a row of the database does not count here; nothing if it does.
std::optional<std::string> unusable(const Context& context, const Query& query, const store::SnapshotAnswers& answers,
                                    const store::SnapshotRow& row, const Config& config) {
    const Variant* variant = context.registry.find(config.variant);
    if (!variant) return "this build has no variant '" + config.variant + "'";
    if (variant->version != row.variant_version) {
        return fmt::format("measured with version {}, this build has version {}", row.variant_version,
                           variant->version);
    }
    for (const store::SnapshotPart& part : answers.parts(row)) {
        const Variant* known = context.registry.find(Config::parse(part.config).variant);
        if (!known || known->version != part.variant_version) {
            return fmt::format("its part {} was measured with version {}, this build has {}", part.config,
                               part.variant_version,
                               known ? fmt::format("version {}", known->version) : std::string("none"));
        }
    }
    Verdict verdict = context.registry.applicable(*variant, query);
    if (verdict) verdict = variant->valid(query, config.params);
    if (!verdict) return verdict.reason;
    return std::nullopt;
}

/// What a config still needs built here. The row says what everything cost from a CSR graph; the costs of single
/// formats say how much of that was formats.
double missing_us(const PresentFormats& present, const Variant& variant, const store::SnapshotRow& row,
                  const Config& config, const std::vector<FormatBuild>* builds) {
    const auto formats = variant.formats(config.params);
    if (!builds) return has_formats(present, formats) ? 0 : row.prepare_us;
    const double own = row.prepare_us - total_build_us(*builds, formats, kFormatCsr, present.direction);
    return std::max(0.0, own) + missing_formats_us(present, formats, *builds);
}

std::string nothing_measured(const Context& context, const Story& story) {
    if (std::string reason = context.no_database_reason(); !reason.empty()) return reason;
    if (!story.answers->unread().empty()) return "the database could not be read: " + story.answers->unread();
    std::string others;
    for (const Policy policy : {Policy::hot, Policy::cold, Policy::graph}) {
        if (story.answers->find(policy)) others += (others.empty() ? "" : ", ") + std::string(to_text(policy));
    }
    if (others.empty()) return "the database has no measurement of this graph and problem on this device";
    return fmt::format("the database has this graph and problem under policy {}, not {}", others,
                       to_text(story.request.policy));
}

std::string why(const Context& context, const Story& story, const Review& review) {
    if (story.source == Source::forced) {
        const std::string pinned = "pinned by GNNTUNE_FORCE, whatever was measured and demanded";
        return story.erratum.empty() ? pinned : pinned + ", and although it must not run: " + story.erratum;
    }
    if (!story.bucket.empty()) {
        return std::string("the graph is transient, so it is planned by its shape and not looked up in the database") +
               (story.like ? "; an earlier graph of this bucket was decided on" : "; it is the first of its bucket");
    }
    if (!story.entry) return nothing_measured(context, story);
    return review.candidates.empty() ? "no measured config can be used here" : review.decision.reason;
}

}  // namespace

std::optional<Candidate> candidate_of(const Context& context, const Query& query, const Story& story,
                                      const store::SnapshotRow& row, std::string& reason) try {
    Config config = Config::parse(row.config);
    if (auto words = unusable(context, query, *story.answers, row, config)) {
        reason = std::move(*words);
        return std::nullopt;
    }
    const Variant& variant = *context.registry.find(config.variant);
    Candidate c;
    c.median_us = row.median_us;
    c.ci_low_us = row.ci_low_us;
    c.ci_high_us = row.ci_high_us;
    c.build_us = missing_us(story.present, variant, row, config, story.answers->format_builds());
    c.format_bytes = row.format_bytes;
    c.workspace_bytes = row.workspace_bytes;
    c.operand_alignment = variant.operand_alignment;
    c.deterministic = row.deterministic && variant.deterministic(config.params);
    c.capturable = !variant.capturable || variant.capturable(config.params);
    c.approximate = variant.approximate;
    c.precision = variant.precision;
    c.max_error = row.max_error;
    c.incumbent = row.chosen;
    c.config = std::move(config);
    return c;
} catch (const Error& error) {
    reason = error.what();
    return std::nullopt;
}

Review review(const Context& context, Graph& graph, const Story& story) {
    Review review;
    if (story.source != Source::forced && story.entry) {
        Query query = graph.query(story.request.problem);
        if (!story.knew_features) query.features = nullptr;
        const auto& rows = story.entry->rows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool failed = std::any_of(story.failed_rows.begin(), story.failed_rows.end(),
                                            [&](const auto& one) { return one.first == i; });
            if (failed) continue;
            std::string reason;
            if (auto candidate = candidate_of(context, query, story, rows[i], reason)) {
                review.candidates.push_back(*std::move(candidate));
            } else {
                review.misses.push_back({std::string(rows[i].config), std::move(reason)});
            }
        }
        review.decision = choose(review.candidates, story.request.constraints);
        for (const auto& [row, reason] : story.failed_rows) {
            review.misses.push_back({std::string(rows[row].config), reason});
        }
    }
    review.misses.insert(review.misses.end(), story.misses.begin(), story.misses.end());
    review.why = why(context, story, review);
    return review;
}

}  // namespace gnntune::library
