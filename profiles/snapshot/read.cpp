#include "profiles/snapshot/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/common/error.hpp"
#include "core/model/model_features.hpp"
#include "core/registry/errata.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/snapshot/nearness.hpp"
#include "profiles/store/device_constants.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

void fill(SnapshotRow& row, const Statement& s) {
    row.median_us = s.real(5);
    row.q1_us = s.real(6);
    row.q3_us = s.real(7);
    row.ci_low_us = s.real(8);
    row.ci_high_us = s.real(9);
    row.samples = s.integer(10);
    row.prepare_us = s.real(11);
    row.workspace_bytes = s.integer(12);
    row.format_bytes = s.integer(13);
    row.deterministic = s.boolean(14);
    row.approximate = s.boolean(15);
    row.max_error = s.real(16, std::numeric_limits<double>::infinity());
}

template <typename Candidate>
std::vector<SnapshotRow> newest_ok(std::vector<Candidate>& candidates) {
    // Interned texts are equal exactly when their addresses are.
    const auto identity = [](const Candidate& c) { return std::pair(c.row.config.data(), c.row.variant_version); };
    std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
        return identity(a) != identity(b) ? identity(a) < identity(b) : a.id > b.id;
    });
    std::vector<SnapshotRow> rows;
    rows.reserve(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const bool newest = i == 0 || identity(candidates[i]) != identity(candidates[i - 1]);
        if (newest && candidates[i].ok) rows.push_back(candidates[i].row);
    }
    std::sort(rows.begin(), rows.end(), [](const SnapshotRow& a, const SnapshotRow& b) {
        return std::tie(a.median_us, a.config, a.variant_version) < std::tie(b.median_us, b.config, b.variant_version);
    });
    return rows;
}

}  // namespace

std::vector<std::pair<EnvironmentMatch, EnvironmentRow>> fitting_environments(const Store& store,
                                                                              const Environment& here) {
    auto environments = store.environments();
    std::reverse(environments.begin(), environments.end());
    std::vector<std::pair<EnvironmentMatch, EnvironmentRow>> fitting;
    for (const EnvironmentMatch wanted : {EnvironmentMatch::exact, EnvironmentMatch::near}) {
        for (const EnvironmentRow& row : environments) {
            if (match(row.environment, here) == wanted) fitting.emplace_back(wanted, row);
        }
    }
    return fitting;
}

void SnapshotLoader::read_file(const Store& store, std::uint32_t file) {
    const double distance = distance_to(store, snapshot_.here_);
    const auto nearer = [&](const SnapshotModel& before) {
        return before.file != file && distance < before.distance && is_shipped(snapshot_.files_[before.file].path);
    };
    for (ModelRow& row : store.models(snapshot_.here_.backend)) {
        const auto [at, fresh] = snapshot_.models_.try_emplace({row.op, row.policy});
        const SnapshotModel& before = at->second;
        const auto usable = [](const ModelRow& r) { return model::is_readable(r.feature_version); };
        const bool better = usable(row) != usable(before.row)
                                ? usable(row)
                                : (before.file == file && row.fitted_at > before.row.fitted_at) || nearer(before);
        if (fresh || better) at->second = {std::move(row), file, distance};
    }
    if (snapshot_.constants_.copy_gbps <= 0 && snapshot_.constants_.gather.empty()) {
        snapshot_.constants_ = stored_device_constants(store, snapshot_.here_);
    }
    const auto fitting = fitting_environments(store, snapshot_.here_);
    if (fitting.empty()) return;
    snapshot_.files_[file].best_match = fitting.front().first;
    // In the order of the index, which holds all that is asked: the features of the graphs are not touched.
    const Database& database = store.database();
    Statement graphs = database.prepare("SELECT fingerprint FROM graph ORDER BY fingerprint", "reading graphs");
    while (graphs.step()) {
        // One that is none is nobody's: the others answer all the same.
        if (const auto fingerprint = Fingerprint::parse(graphs.view(0))) snapshot_.graphs_.push_back(*fingerprint);
    }
}

void SnapshotLoader::finish() {
    auto& graphs = snapshot_.graphs_;
    std::sort(graphs.begin(), graphs.end());
    graphs.erase(std::unique(graphs.begin(), graphs.end()), graphs.end());
}

void SnapshotReader::read_file(const Store& store, std::uint32_t file, const Fingerprint& graph,
                               const Problem& problem) {
    const auto graph_id = store.find_graph_id(graph);
    if (!graph_id) return;
    const auto problem_id = store.find_problem_id(problem);
    for (const auto& [fits, environment] : fitting_environments(store, here_)) {
        if (answers_.format_builds_.empty()) {
            answers_.format_builds_ = store.format_builds(*graph_id, environment.id);
        }
        if (!problem_id) continue;
        SnapshotEntry origin;
        origin.match = fits;
        origin.file = file;
        origin.environment = environment.environment;
        read_rows(store.database(), {*graph_id, environment.id, *problem_id}, origin);
    }
}

std::string_view SnapshotReader::intern(std::string_view text) {
    const auto found = interned_.find(text);
    if (found != interned_.end()) return *found;
    answers_.texts_.emplace_back(text);
    return *interned_.insert(answers_.texts_.back()).first;
}

/// Parts by measurement, in order of position.
void SnapshotReader::read_parts(const Database& database, const Key& key) {
    parts_of_.clear();
    Statement s = database.prepare(
        "SELECT measurement_id, part.config, part.variant_version FROM measurement "
        "CROSS JOIN part ON measurement.id = measurement_id "
        "WHERE graph_id = ? AND environment_id = ? AND problem_id = ? ORDER BY measurement_id, position",
        "reading parts");
    s.bind(key.graph, key.environment, key.problem);
    while (s.step()) {
        auto& [first, count] = parts_of_[s.integer(0)];
        if (count++ == 0) first = static_cast<std::uint32_t>(answers_.parts_.size());
        answers_.parts_.push_back({intern(s.view(1)), s.integer32(2)});
    }
}

void SnapshotReader::read_rows(const Database& database, const Key& key, const SnapshotEntry& origin) {
    read_parts(database, key);
    std::vector<Group> groups;
    Statement s = database.prepare(
        R"(SELECT policy, clock, status, config, variant_version, median_us, q1_us, q3_us, ci_low_us, ci_high_us,
               samples, prepare_us, workspace_bytes, format_bytes, deterministic, approximate, max_error, taken_at, id
        FROM measurement WHERE graph_id = ? AND environment_id = ? AND problem_id = ? ORDER BY policy, clock)",
        "reading measurements");
    s.bind(key.graph, key.environment, key.problem);
    while (s.step()) {
        const auto policy = parse_policy(s.view(0));
        const auto clock = parse_clock(s.view(1));
        if (!policy || !clock) continue;  // of a later version, or damaged
        if (groups.empty() || groups.back().entry.policy != *policy || groups.back().entry.clock != *clock) {
            Group& group = groups.emplace_back();
            group.entry = origin;
            group.entry.policy = *policy;
            group.entry.clock = *clock;
        }
        Group& group = groups.back();
        Candidate candidate;
        candidate.id = s.integer(18);
        candidate.row.config = intern(s.view(3));
        candidate.row.variant_version = s.integer32(4);
        candidate.ok = s.view(2) == "ok";
        if (candidate.ok) {
            fill(candidate.row, s);
            if (s.view(17) > group.entry.taken_at) group.entry.taken_at = s.text(17);
        }
        if (const auto found = parts_of_.find(candidate.id); found != parts_of_.end()) {
            std::tie(candidate.row.first_part, candidate.row.part_count) = found->second;
        }
        group.candidates.push_back(candidate);
    }
    read_choices(database, key, groups);
    for (Group& group : groups) keep(group);
}

void SnapshotReader::read_choices(const Database& database, const Key& key, std::vector<Group>& groups) {
    Statement s = database.prepare(
        "SELECT policy, clock, config, variant_version, reason FROM choice "
        "WHERE graph_id = ? AND environment_id = ? AND problem_id = ?",
        "reading choices");
    s.bind(key.graph, key.environment, key.problem);
    while (s.step()) {
        const auto policy = parse_policy(s.view(0));
        const auto clock = parse_clock(s.view(1));
        for (Group& group : groups) {
            if (group.entry.policy != policy || group.entry.clock != clock) continue;
            group.entry.made_under = made_under_in(s.view(4));
            for (Candidate& c : group.candidates) {
                c.row.chosen = c.row.config == s.view(2) && c.row.variant_version == s.integer32(3);
            }
        }
    }
}

bool SnapshotReader::is_current(const SnapshotRow& row) const {
    return !current_ || current_(row.config.substr(0, row.config.find('{')), row.variant_version);
}

/// Moves a group that no better source has answered into the answers.
void SnapshotReader::keep(Group& group) {
    SnapshotEntry& entry = group.entry;
    auto& kept = answers_.entries_;
    const auto before = std::find_if(kept.begin(), kept.end(), [&](const SnapshotEntry& e) {
        return e.policy == entry.policy && e.clock == entry.clock;
    });
    if (before != kept.end() && before->current_rows > 0) return;
    entry.rows = newest_ok(group.candidates);
    if (entry.rows.empty()) return;
    entry.current_rows = static_cast<std::size_t>(
        std::count_if(entry.rows.begin(), entry.rows.end(), [&](const SnapshotRow& row) { return is_current(row); }));
    if (before == kept.end()) {
        kept.push_back(std::move(entry));
    } else if (entry.current_rows > 0) {
        // What answered so far is of other versions throughout: it gives way to what can be used.
        *before = std::move(entry);
    }
}

}  // namespace gnntune::store
