#include "profiles/library/explain.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "core/common/printable.hpp"
#include "profiles/library/review.hpp"
#include "profiles/library/tuning.hpp"
#include "profiles/store/environment_words.hpp"

namespace gnntune::library {
namespace {

constexpr std::size_t kMostLines = 12;  // of one kind; a tuning may have left hundreds of rows

class Text {
public:
    void line(std::string_view label, std::string_view words) {
        text_ += fmt::format("{:<10} {}\n", label, printable(words));
    }
    /// One line per item, as many as people read.
    template <typename Items, typename Words>
    void lines(std::string_view label, const Items& items, Words&& words) {
        std::size_t count = 0;
        for (const auto& item : items) {
            if (count++ < kMostLines) line(label, words(item));
        }
        if (count > kMostLines) line(label, fmt::format("... and {} more", count - kMostLines));
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

double cost_us(const Candidate& c, const Request& request) {
    return c.build_us + request.constraints.expected_calls * c.median_us;
}

std::string priced(const Candidate& c) {
    return fmt::format("{} at {:.4g} us a run, {:.4g} us to build", c.config.text(), c.median_us, c.build_us);
}

std::string expected_of(const Expected& e, const Request& request) {
    return fmt::format("{:.4g} us a run (+- {:.0f} %), {:.4g} us to build as far as known, over {:g} calls", e.us,
                       100 * std::expm1(e.sigma), e.build_us, request.constraints.expected_calls);
}

/// Which model was asked, what it said, and what asking took.
void explain_forecast(const Request& request, const Forecast& forecast, Text& text) {
    if (!forecast.origin) {
        text.line("model", forecast.why);
        return;
    }
    const Advice& advice = forecast.advice;
    text.line("model", store::to_text(forecast.origin->row));
    text.line("forecast", forecast.why);
    if (forecast.chosen) text.line("expected", expected_of(*forecast.chosen, request));
    if (advice.expected_standard) {
        text.line("default", advice.standard->text() + " at " + expected_of(*advice.expected_standard, request));
    }
    text.line("asked", fmt::format("{} configs in {:.1f} us, features of the graph in {:.1f} us", advice.asked,
                                   forecast.asked_us, forecast.features_us));
    text.lines("rejected", advice.rejected, [&](const Rejection& r) {
        return forecast.prospects->candidates()[r.candidate].config.text() + ": " + r.reason;
    });
}

/// What a model said of this graph, or of the one that decided for its bucket; null if none was asked.
const Forecast* forecast_of(const Story& story) {
    const Story& decided = story.like ? *story.like : story;
    return decided.forecast ? &*decided.forecast : nullptr;
}

std::string identity_of(Graph& graph, const Story& story) {
    return story.bucket.empty() ? graph.fingerprint().text() : "transient";
}

void explain_measured(const Story& story, Text& text) {
    const store::SnapshotEntry& entry = *story.entry;
    text.line("measured", fmt::format("{}, policy {}, clock {}", entry.taken_at, to_text(story.request.policy),
                                      to_text(entry.clock)));
}

void explain_source(const Context& context, const Story& story, const Review& review, Text& text) {
    if (story.source == Source::tuned) {
        text.line("source", "tuned by this process" + (story.tuning ? ": " + to_text(*story.tuning) : ""));
        explain_measured(story, text);
    } else if (story.source == Source::model) {
        const std::uint32_t file = forecast_of(story)->origin->file;
        text.line("source", fmt::format("model of {}", context.shown(context.snapshot.files()[file].path)));
    } else if (story.source != Source::database) {
        text.line("source", to_text(story.source));
    } else {
        const store::SnapshotEntry& entry = *story.entry;
        text.line("source", fmt::format("database {}", context.shown(context.snapshot.files()[entry.file].path)));
        explain_measured(story, text);
        const Environment& e = entry.environment;
        const Environment& here = context.device.environment;
        text.line("match", fmt::format("{}: {} {}, {}{}{}", store::to_text(entry.match), e.device_name,
                                       e.compute_capability, e.driver.empty() ? "" : "driver " + e.driver + ", CUDA ",
                                       e.driver.empty() ? to_text(e.backend) : std::string_view(e.cuda_runtime),
                                       entry.match == store::EnvironmentMatch::exact
                                           ? ""
                                           : fmt::format("; there -> here: {}; tune again to be sure",
                                                         fmt::join(store::differences(e, here), ", "))));
    }
    if (story.source != Source::tuned && story.tuning) text.line("tuning", to_text(*story.tuning));
    text.line("why", review.why);
}

void explain_decision(const Story& story, const Review& review, Text& text) {
    const Request& request = story.request;
    const auto& all = review.candidates;
    const Decision& d = review.decision;
    if ((story.source == Source::database || story.source == Source::tuned) && d.winner) {
        const Candidate& winner = all[*d.winner];
        text.line("expected", fmt::format("{:.4g} us a run, {:.4g} us to build, over {:g} calls", winner.median_us,
                                          winner.build_us, request.constraints.expected_calls));
        if (d.runner_up) {
            const Candidate& next = all[*d.runner_up];
            text.line("runner-up", fmt::format("{}, {:.3g} % dearer", priced(next),
                                               100.0 * (cost_us(next, request) / cost_us(winner, request) - 1.0)));
        }
        text.lines("tied", d.tied, [&](std::size_t i) { return priced(all[i]); });
    }
    text.lines("rejected", d.rejected,
               [&](const Rejection& r) { return all[r.candidate].config.text() + ": " + r.reason; });
    text.lines("unusable", review.misses, [](const Miss& miss) { return miss.config + ": " + miss.reason; });
}

}  // namespace

std::string explain(const Context& context, Graph& graph, const Plan& plan, const Story& story) {
    const Request& request = story.request;
    const Review all = review(context, graph, story);
    Text text;
    text.line("config", plan.config().text());
    text.line("problem", to_text(request.problem));
    text.line("graph", fmt::format("{}, {} x {}, {} edges, given as {}", identity_of(graph, story), graph.n_rows(),
                                   graph.n_cols(), graph.m(), graph.base_format()));
    if (!story.bucket.empty()) text.line("bucket", story.bucket);
    text.line("device",
              fmt::format("{} on {}", context.device.environment.device_name, to_text(context.device.backend)));
    explain_source(context, story, all, text);
    if (const Forecast* forecast = forecast_of(story)) explain_forecast(request, *forecast, text);
    explain_decision(story, all, text);
    text.line("needs", fmt::format("{} bytes of workspace, {} bytes of formats, built in {:.4g} us",
                                   plan.workspace_bytes(), plan.format_bytes(), plan.prepare_us()));
    text.line("repeats", plan.deterministic() ? "bit for bit" : "not bit for bit");
    for (const std::string& note : context.notes) text.line("note", note);
    return text.take();
}

std::string verbose_line(Graph& graph, const Plan& plan, const Story& story, double tuned_us) {
    const Problem& p = story.request.problem;
    return fmt::format(
        "gnntune,dispatch,{},n_rows={},n_cols={},m={},k={},{}{},{},{},{},source={},config={},workspace_bytes={},"
        "prepare_us={:.1f},{}graph={}\n",
        to_text(p.op), graph.n_rows(), graph.n_cols(), graph.m(), p.k,
        p.heads == 1 ? std::string() : fmt::format("heads={},", p.heads), to_text(p.dtype), to_text(p.reduce),
        p.weighted ? "weighted" : "unweighted", to_text(p.direction), to_text(story.source), plan.config().text(),
        plan.workspace_bytes(), plan.prepare_us(),
        tuned_us > 0 ? fmt::format("tune_us={:.1f},", tuned_us) : std::string(), identity_of(graph, story));
}

}  // namespace gnntune::library
