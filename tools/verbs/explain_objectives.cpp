#include "tools/verbs/explain_objectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnntune::tools {
namespace {

// Calls are whole: the first number of them for which it holds.
double whole_calls(double calls) {
    return std::max(1.0, std::ceil(calls));
}

// To two digits, so that what is typed is not below what is needed.
double rounded_up(double error) {
    const double unit = std::pow(10.0, std::floor(std::log10(error)) - 1);
    return std::ceil(error / unit) * unit;
}

}  // namespace

Objectives::Objectives(const std::vector<Candidate>& candidates, const Constraints& constraints,
                       const Decision& decision)
    : candidates_(candidates),
      constraints_(constraints),
      decision_(decision),
      ranges_(calls_ranges(candidates, constraints)),
      front_(error_front(candidates, constraints)) {}

Lines Objectives::text(bool color) const {
    Lines text;
    if (decision_.winner && decision_.runner_up) {
        const Candidate& w = candidates_[*decision_.winner];
        const Candidate& r = candidates_[*decision_.runner_up];
        const auto winner_from = gnntune::break_even_calls(r, w);
        const auto runner_from = gnntune::break_even_calls(w, r);
        if (winner_from && whole_calls(*winner_from) > 1) {
            text.line(
                fmt::format("break-even {:.0f} calls: below that {} is cheaper, {:.0f} us of building against {:.0f}",
                            whole_calls(*winner_from), r.config.text(), r.build_us, w.build_us));
        } else if (runner_from && *runner_from > 0) {
            text.line(
                fmt::format("break-even {:.0f} calls: from there {} is cheaper, {:.0f} us of building against {:.0f}",
                            whole_calls(*runner_from), r.config.text(), r.build_us, w.build_us));
        } else {
            text.line("break-even none: the runner-up is cheaper for no number of calls");
        }
    }
    if (ranges_.size() > 1) {
        Table table({{"calls", "cheapest from", "calls", 0},
                     {"config", "config", ""},
                     {"time_us", "time", "us"},
                     {"build_us", "build", "us", 0}});
        for (const CallsRange& r : ranges_) {
            const Candidate& c = candidates_[r.candidate];
            table.add({whole_calls(r.from_calls), c.config.text(), c.median_us, c.build_us});
        }
        text.line().table(table, color);
    }
    if (front_.size() > 1) {
        Table table({{"error", "with error up to", "", 9},
                     {"config", "config", ""},
                     {"time_us", "time", "us"},
                     {"relative", "of exact", "x"},
                     {"needs", "needs", ""}});
        const double exact_us = candidates_[front_.front().candidate].median_us;
        for (const ErrorPoint& p : front_) {
            const Candidate& c = candidates_[p.candidate];
            std::string needs;
            if (p.max_error > 0) needs = fmt::format("--max-error {:.2g}", rounded_up(p.max_error));
            if (p.sampling) needs += " --allow-sampling: drops edges";
            table.add({p.max_error, c.config.text(), c.median_us, c.median_us / exact_us, needs});
        }
        text.line().table(table, color);
    }
    return text;
}

const Candidate* Objectives::find(const Config& config) const {
    for (const Candidate& c : candidates_) {
        if (c.config == config) return &c;
    }
    return nullptr;
}

Cell Objectives::break_even_calls(const Config& config) const {
    const Candidate* c = find(config);
    if (!c || !decision_.winner || c == &candidates_[*decision_.winner]) return {};
    const auto calls = gnntune::break_even_calls(*c, candidates_[*decision_.winner]);
    return calls ? Cell(*calls > 0 ? whole_calls(*calls) : 0.0) : Cell();
}

Cell Objectives::cheapest_from_calls(const Config& config) const {
    for (const CallsRange& r : ranges_) {
        if (candidates_[r.candidate].config == config) return whole_calls(r.from_calls);
    }
    return {};
}

Cell Objectives::chosen_from_error(const Config& config) const {
    for (const ErrorPoint& p : front_) {
        if (candidates_[p.candidate].config == config) return p.max_error;
    }
    return {};
}

}  // namespace gnntune::tools
