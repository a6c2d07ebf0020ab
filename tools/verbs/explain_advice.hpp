// What a dispatcher runs where no measurement answers: the part of `gnntune explain` that speaks of the cost model.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/advise.hpp"
#include "profiles/snapshot/snapshot.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// The model's favourite or the default, with what decided.
class ModelAnswer {
public:
    /// Why configs may not run, by their texts.
    using Refusals = std::map<std::string, std::string>;

    /// `query` has features and a device, those of the environment that the dispatcher would run in; `measured` says
    /// what measurements of the problem have shown, which a dispatcher finds out when it prepares. Throws
    /// ErrorKind::input for a model that cannot be read.
    ModelAnswer(const store::Snapshot& snapshot, const Query& query, Policy policy, const Constraints& constraints,
                const Refusals& measured);

    /// Whether the database has a model for the problem.
    bool has_model() const { return !model_.empty(); }
    /// Lines as those of `explain`: chosen, model, why, refused.
    void print(Output& out) const;
    /// The same for JSON: chosen and its source ("model", "default"; null where nothing may run), model, reason.
    Json facts() const;
    /// Whether anything may run; else why() says what is in the way.
    bool has_choice() const { return chosen_.has_value(); }
    const std::string& why() const { return why_; }
    /// The config that a dispatcher takes; has_choice().
    const Config& choice() const { return tried_[*chosen_].config; }
    /// What the dispatcher tries, in that order, the default last: config, time_us, sigma_percent, source, note.
    Table table() const;

private:
    struct Tried {
        Config config;
        std::optional<Expected> expected;
        const char* source = "";
        std::string refused;  ///< empty: it may run
    };

    std::string model_;  // which one; empty: there is none
    std::vector<Tried> tried_;
    std::optional<std::size_t> chosen_;  // index into tried_
    std::string why_;
};

}  // namespace gnntune::tools
