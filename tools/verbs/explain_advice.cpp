#include "tools/verbs/explain_advice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/program.hpp"

namespace gnntune::tools {
namespace {

/// Why it cannot run; empty if it can, as far as shows before it is prepared.
std::string refusal_of(const Query& query, const Config& config) {
    try {
        resolve(registry(), query, config);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

ModelAnswer::ModelAnswer(const store::Snapshot& snapshot, const Query& query, Policy policy,
                         const Constraints& constraints, const Refusals& measured) {
    const auto refused = [&](const Config& config) {
        const auto known = measured.find(config.text());
        return known != measured.end() ? known->second : refusal_of(query, config);
    };
    const store::SnapshotModel* stored = snapshot.model(query.problem.op, policy);
    std::optional<Config> standard;
    std::optional<Expected> expected_standard;
    if (stored) {
        model_ = store::to_text(stored->row) + ", in " + store::shown(snapshot.files()[stored->file].path);
        const model::Model model = model::from_bytes(stored->row.bytes);
        const Prospects prospects(model, registry(), query);
        const Advice advice = advise(model, prospects, registry(), query, snapshot.constants(), constraints);
        for (const Expected& e : advice.better) {
            const Config& config = prospects.candidates()[e.candidate].config;
            tried_.push_back({config, e, "model", refused(config)});
        }
        why_ = advice.reason;
        standard = advice.standard;
        expected_standard = advice.expected_standard;
    } else {
        why_ = fmt::format("the database has no cost model of {} for {} under policy {}; gnntune fit makes one",
                           to_text(query.problem.op), to_text(query.device->backend), to_text(policy));
    }
    if (!standard && tried_.empty()) {
        try {
            standard = exact_default(registry(), query, constraints);
        } catch (const Error& error) {
            why_ = error.what();
        }
    }
    if (standard) tried_.push_back({*standard, expected_standard, "default", refused(*standard)});
    for (std::size_t i = 0; i < tried_.size() && !chosen_; ++i) {
        if (tried_[i].refused.empty()) chosen_ = i;
    }
    if (!chosen_ && !tried_.empty()) {
        const Tried& last = tried_.back();
        why_ = last.config.text() + ", the last that a dispatcher tries, may not run: " + last.refused;
    }
}

void ModelAnswer::print(Output& out) const {
    if (chosen_) {
        const Tried& t = tried_[*chosen_];
        out.print_line(fmt::format(
            "chosen     {}{}  (source {})", t.config.text(),
            t.expected ? fmt::format("  {:.2f} us +- {:.0f} %", t.expected->us, 100 * std::expm1(t.expected->sigma))
                       : "",
            t.source));
    } else {
        out.print_line("chosen     nothing");
    }
    if (has_model()) out.print_line("model      " + model_);
    out.print_line("why        " + why_);
    // Where nothing may run, `why` says it of the last.
    for (std::size_t i = 0; i + (chosen_ ? 0 : 1) < chosen_.value_or(tried_.size()); ++i) {
        out.print_line("refused    " + tried_[i].refused);
    }
}

Json ModelAnswer::facts() const {
    Json json;
    json["chosen"] = chosen_ ? Json(tried_[*chosen_].config.text()) : Json();
    json["source"] = chosen_ ? Json(tried_[*chosen_].source) : Json();
    json["model"] = has_model() ? Json(model_) : Json();
    json["reason"] = why_;
    return json;
}

Table ModelAnswer::table() const {
    Table table({{"config", "config", ""},
                 {"time_us", "expected", "us", 2},
                 {"sigma_percent", "+- of expected", "%", 1},
                 {"source", "source", ""},
                 {"note", "note", ""}});
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        const Tried& t = tried_[i];
        table.add({t.config.text(), t.expected ? Cell(t.expected->us) : Cell(),
                   t.expected ? Cell(100 * std::expm1(t.expected->sigma)) : Cell(), std::string(t.source),
                   chosen_ == i ? std::string("chosen") : t.refused});
    }
    return table;
}

}  // namespace gnntune::tools
