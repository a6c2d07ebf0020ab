#include "profiles/library/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/common/error.hpp"
#include "core/dispatch/build_cost.hpp"
#include "core/dispatch/candidates.hpp"

namespace gnntune::library {
namespace {

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
    if (story.source == Source::named) return "named by the application, whatever was measured";
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
    MeasuredRow measured;
    measured.config = Config::parse(row.config);
    measured.variant_version = row.variant_version;
    std::vector<PartVersion> parts;
    for (const store::SnapshotPart& part : story.answers->parts(row)) {
        parts.push_back({Config::parse(part.config), part.variant_version});
    }
    measured.parts = parts;
    measured.median_us = row.median_us;
    measured.ci_low_us = row.ci_low_us;
    measured.ci_high_us = row.ci_high_us;
    measured.format_bytes = row.format_bytes;
    measured.workspace_bytes = row.workspace_bytes;
    measured.deterministic = row.deterministic;
    measured.max_error = row.max_error;
    measured.incumbent = row.chosen;
    auto candidate = gnntune::candidate_of(context.registry, query, std::move(measured), reason);
    if (candidate) {
        candidate->config = as_measured(context.registry, query, candidate->config, parts);
        const Variant& variant = *context.registry.find(candidate->config.variant);
        candidate->build_us = still_to_build_us(story.present, variant.formats(candidate->config.params),
                                                row.prepare_us, story.answers->format_builds());
    }
    return candidate;
} catch (const Error& error) {
    reason = error.what();
    return std::nullopt;
}

Review review(const Context& context, Graph& graph, const Story& story) {
    Review review;
    if (story.source != Source::forced && story.source != Source::named && story.entry) {
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
