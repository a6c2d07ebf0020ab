#include "tools/db/merge_into.hpp"

#include <fmt/format.h>

#include <exception>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "profiles/fields/features_json.hpp"
#include "tools/common/program.hpp"
#include "tools/db/stored_queries.hpp"
#include "tools/db/unknown_names.hpp"
#include "tuner/training.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {
namespace {

/// Makes choices again, by the rule and constraints.
class Chooser {
public:
    Chooser(store::Store& store, const Constraints& constraints, Output& out)
        : store_(store), constraints_(constraints), queries_(store, out) {}

    /// The choice, if this build has variants that may be chosen.
    std::optional<Choice> again(const store::OpenChoice& open) const {
        auto query = queries_.query(open.key);
        if (!query) return std::nullopt;
        const auto features = store::features_from(queries_.graph(open.key).features_json);
        query->features = features ? &*features : nullptr;
        const auto rows = store_.measurements(open.key, {open.policy, open.clock, {}});
        const auto candidates =
            candidates_of(registry(), *query, rows, store_.choice(open.key, open.policy, open.clock));
        const Decision decision = choose(candidates, constraints_);
        if (!decision.winner) return std::nullopt;
        return choice_of(registry(), candidates, decision);
    }
    std::string where(const store::OpenChoice& open) const {
        return fmt::format("{}, {}, {}, {}", queries_.graph(open.key).name, to_text(queries_.query(open.key)->problem),
                           to_text(open.policy), to_text(open.clock));
    }

private:
    store::Store& store_;
    const Constraints& constraints_;
    StoredQueries queries_;
};

/// In words; of choices with what stands now.
std::vector<std::string> conflicts_of(const store::Store& store, const store::MergeReport& report,
                                      const std::string& from) {
    std::vector<std::string> out;
    for (const std::string& words : report.conflicts) out.push_back(from + ": " + words);
    for (const auto& [where, words] : report.choice_conflicts) {
        const auto choice = store.choice(where.key, where.policy, where.clock);
        out.push_back(from + ": " + words + (choice ? "; " + choice->config.text() + " stands" : ""));
    }
    return out;
}

}  // namespace

Table merge_table() {
    return Table({{"from", "from", ""},
                  {"measurements", "measurements", ""},
                  {"known", "known already", ""},
                  {"graphs", "new graphs", ""},
                  {"environments", "new devices", ""},
                  {"runs", "new runs", ""},
                  {"models", "models", ""},
                  {"conflicts", "conflicts", ""},
                  {"choices_made_again", "choices made again", ""},
                  {"choices_changed", "of them changed", ""},
                  {"errata", "errata", ""}});
}

std::optional<std::string> merge_check(const Config& config, std::int32_t version, bool) {
    return foreign_params(config, version);
}

void require_mergeable(const std::filesystem::path& from) {
    if (const auto damage = store::Database::damage_of(from)) {
        throw database_error(
            fmt::format("{0}: the file is damaged ({1}); save what can be read with `gnntune db rescue "
                        "{2} FILE` and take in FILE",
                        from.string(), *damage, shell_quoted(from.string())));
    }
    store::Store::open(from, store::Mode::read_only).require_mergeable(merge_check);
}

Merged take_in(store::Store& store, std::span<const MergeSource> sources, const Constraints& constraints,
               const CommonOptions& common, Output& out) {
    Merged merged;
    std::vector<store::MergeReport> reports;
    for (const MergeSource& source : sources) {
        try {
            reports.push_back(store.merge(source.database, merge_check));
        } catch (const Error&) {
            merged.refused = std::current_exception();
            break;
        }
    }
    // Once all are in: of their choices the newest is there, whatever the order of the files.
    std::optional<std::int64_t> run;
    const Chooser chooser(store, constraints, out);
    for (std::size_t f = 0; f < reports.size(); ++f) {
        const std::string& from = sources[f].name;
        const store::MergeReport& report = reports[f];
        std::int64_t made = 0;
        std::int64_t changed = 0;
        auto transaction = store.transaction();
        for (const store::OpenChoice& open : report.open_choices) {
            const auto choice = chooser.again(open);
            if (!choice) continue;
            const auto before = store.choice(open.key, open.policy, open.clock);
            if (before && before->config.text() != choice->config.text()) {
                ++changed;
                out.note(fmt::format("{}: now {}, before {}", chooser.where(open), choice->config.text(),
                                     before->config.text()));
            }
            if (!run) {
                run = store.begin_run(
                    {command_line(), version(), git_commit(), static_cast<std::int64_t>(common.seed), ""});
            }
            store.set_choice(*run, open.key, open.policy, open.clock, *choice);
            ++made;
        }
        transaction.commit();
        for (const std::string& note : report.notes) out.warn(from + ": " + note);
        const auto conflicts = conflicts_of(store, report, from);
        out.warn_of_many(conflicts, [&](std::size_t more) {
            return fmt::format("{}: {} conflicts more; --verbose lists them", from, more);
        });
        merged.measurements += report.measurements;
        merged.table.add({from, report.measurements, report.known, report.graphs, report.environments, report.runs,
                          report.models, static_cast<std::int64_t>(conflicts.size()), made, changed, report.errata});
        if (made < static_cast<std::int64_t>(report.open_choices.size())) {
            out.warn(fmt::format("{}: {} choices stay as they are: this build has no variant that may be chosen there",
                                 from, static_cast<std::int64_t>(report.open_choices.size()) - made));
        }
    }
    if (run) store.end_run(*run);
    return merged;
}

void merge_into(store::Store& store, std::span<const MergeSource> sources, const Constraints& constraints,
                const CommonOptions& common, Output& out) {
    const Merged merged = take_in(store, sources, constraints, common, out);
    if (!merged.refused || merged.table.rows() > 0) out.print(merged.table);
    if (merged.refused) std::rethrow_exception(merged.refused);
}

}  // namespace gnntune::tools
