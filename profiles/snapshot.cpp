#include "profiles/snapshot.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/model/model_features.hpp"
#include "profiles/device_constants.hpp"
#include "profiles/rows.hpp"
#include "profiles/store.hpp"

namespace gnntune::store {

EnvironmentMatch match(const Environment& stored, const Environment& here) {
    if (stored == here) return EnvironmentMatch::exact;
    const bool near = stored.backend == here.backend && stored.device_name == here.device_name &&
                      stored.compute_capability == here.compute_capability;
    return near ? EnvironmentMatch::near : EnvironmentMatch::none;
}

std::string_view to_text(EnvironmentMatch match) {
    switch (match) {
        case EnvironmentMatch::none:
            return "none";
        case EnvironmentMatch::near:
            return "near";
        case EnvironmentMatch::exact:
            return "exact";
    }
    return "?";
}

/// Reads one file after the other into a Snapshot.
class SnapshotReader {
public:
    SnapshotReader(Snapshot& snapshot, const SnapshotOptions& options)
        : snapshot_(snapshot), current_(options.current) {}

    void read_file(const Store& store, const Environment& here, std::uint32_t file) {
        const Database& database = store.database();
        read_keys(database);
        read_models(store, here.backend, file);
        if (snapshot_.constants_.copy_gbps <= 0 && snapshot_.constants_.gather.empty()) {
            snapshot_.constants_ = stored_device_constants(store, here);
        }
        auto environments = store.environments();
        std::reverse(environments.begin(), environments.end());
        for (const EnvironmentMatch wanted : {EnvironmentMatch::exact, EnvironmentMatch::near}) {
            for (const auto& [id, environment] : environments) {
                if (match(environment, here) != wanted) continue;
                SnapshotFile& about = snapshot_.files_[file];
                about.best_match = std::max(about.best_match, wanted);
                read_format_builds(store, id);
                const auto index = static_cast<std::uint32_t>(snapshot_.environments_.size());
                snapshot_.environments_.push_back(environment);
                about.rows += static_cast<std::int64_t>(
                    read_environment_rows(database, id, {{}, Clock::events, wanted, file, index, 0, {}}));
            }
        }
    }

private:
    /// A row on its way: only the newest attempt of a config, version and set of parts will count.
    struct Candidate {
        std::int64_t id = 0;
        bool ok = false;
        SnapshotRow row;
    };
    struct Group {
        Snapshot::EntryKey key;
        std::string taken_at;
        std::vector<Candidate> candidates;
    };
    /// Row ids of a graph, problem, and the two words: what a row of the table says of its group.
    using GroupId = std::tuple<std::int64_t, std::int64_t, Policy, Clock>;
    struct GroupIdHash {
        std::size_t operator()(const GroupId& id) const noexcept {
            const auto [graph, problem, policy, clock] = id;
            const auto words = static_cast<std::uint64_t>(policy) * 8 + static_cast<std::uint64_t>(clock);
            const auto h =
                (static_cast<std::uint64_t>(graph) * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(problem)) *
                    0xd1b54a32d192ed03ull +
                words;
            return static_cast<std::size_t>(h ^ (h >> 29));
        }
    };

    void read_keys(const Database& database) {
        fingerprints_.clear();
        problems_.clear();
        Statement graphs = database.prepare("SELECT id, fingerprint FROM graph", "reading graphs");
        while (graphs.step()) {
            const auto fingerprint = Fingerprint::parse(graphs.view(1));
            if (!fingerprint) {
                throw database_error(fmt::format("{}: graph {} has a malformed fingerprint; run `gnntune db check`",
                                                 database.path().string(), graphs.integer(0)));
            }
            fingerprints_[graphs.integer(0)] = *fingerprint;
        }
        // A file may hold ops and types that this build does not know: nobody here will ask for them.
        Statement problems =
            database.prepare(fmt::format("SELECT {}, id FROM problem", kProblemColumns), "reading problems");
        while (problems.step()) {
            try {
                problems_[problems.integer(8)] = read_problem(problems, 0);
            } catch (const Error&) {
                continue;
            }
        }
    }

    void read_models(const Store& store, Backend backend, std::uint32_t file) {
        for (ModelRow& row : store.models()) {
            if (row.backend != backend) continue;
            const auto [at, fresh] = snapshot_.models_.try_emplace({row.op, row.policy});
            const SnapshotModel& before = at->second;
            const auto usable = [](const ModelRow& r) { return r.feature_version == model::kFeatureVersion; };
            const bool better = usable(row) != usable(before.row)
                                    ? usable(row)
                                    : before.file == file && row.fitted_at > before.row.fitted_at;
            if (fresh || better) at->second = {std::move(row), file};
        }
    }

    /// The first environment that has them answers for a graph, as with measurements.
    void read_format_builds(const Store& store, std::int64_t environment) {
        std::map<Fingerprint, std::vector<FormatBuild>> found;
        Statement s = store.database().prepare(
            "SELECT graph_id, base, format, direction, build_us, bytes FROM format_build WHERE environment_id = ?",
            "reading the cost of formats");
        s.bind(environment);
        while (s.step()) {
            const auto graph = fingerprints_.find(s.integer(0));
            const auto direction = parse_direction(s.view(3));
            if (graph == fingerprints_.end() || !direction) continue;
            found[graph->second].push_back({s.text(1), s.text(2), *direction, s.real(4), s.integer(5)});
        }
        snapshot_.format_builds_.merge(found);
    }

    std::string_view intern(std::string_view text) {
        const auto found = interned_.find(text);
        if (found != interned_.end()) return *found;
        snapshot_.texts_.emplace_back(text);
        return *interned_.insert(snapshot_.texts_.back()).first;
    }

    /// Parts by measurement, in order of position.
    void read_parts(const Database& database, std::int64_t environment) {
        parts_of_.clear();
        Statement s = database.prepare(
            "SELECT measurement_id, part.config, part.variant_version FROM part "
            "JOIN measurement ON measurement.id = measurement_id "
            "WHERE environment_id = ? ORDER BY measurement_id, position",
            "reading parts");
        s.bind(environment);
        while (s.step()) {
            auto& [first, count] = parts_of_[s.integer(0)];
            if (count++ == 0) first = static_cast<std::uint32_t>(snapshot_.parts_.size());
            snapshot_.parts_.push_back({intern(s.view(1)), s.integer32(2)});
        }
    }

    std::size_t read_environment_rows(const Database& database, std::int64_t environment, const SnapshotEntry& origin) {
        read_parts(database, environment);
        std::unordered_map<GroupId, Group, GroupIdHash> groups;
        GroupId last_id{-1, -1, Policy::hot, Clock::events};
        Group* last = nullptr;

        Statement s = database.prepare(
            R"(SELECT graph_id, problem_id, policy, clock, status, config, variant_version, median_us, q1_us, q3_us,
                   ci_low_us, ci_high_us, samples, prepare_us, workspace_bytes, format_bytes, deterministic,
                   approximate, max_error, taken_at, id
            FROM measurement NOT INDEXED WHERE environment_id = ?)",
            "reading measurements");
        s.bind(environment);
        while (s.step()) {
            const GroupId id{s.integer(0), s.integer(1), policy_from(s.view(2)), clock_from(s.view(3))};
            // Rows of one tuning stand together, so the group is nearly always the one before.
            if (!last || id != last_id) {
                last_id = id;
                last = &groups[id];
                last->candidates.reserve(64);
            }
            Candidate candidate;
            candidate.id = s.integer(20);
            candidate.row.config = intern(s.view(5));
            candidate.row.variant_version = s.integer32(6);
            candidate.ok = s.view(4) == "ok";
            if (candidate.ok) {
                fill(candidate.row, s);
                if (s.view(19) > last->taken_at) last->taken_at = s.text(19);
            }
            if (!parts_of_.empty()) {
                if (const auto found = parts_of_.find(candidate.id); found != parts_of_.end()) {
                    std::tie(candidate.row.first_part, candidate.row.part_count) = found->second;
                }
            }
            last->candidates.push_back(candidate);
        }
        read_choices(database, environment, groups);
        return keep(groups, origin);
    }

    void read_choices(const Database& database, std::int64_t environment,
                      std::unordered_map<GroupId, Group, GroupIdHash>& groups) {
        Statement s = database.prepare(
            "SELECT graph_id, problem_id, policy, clock, config, variant_version FROM choice WHERE environment_id = ?",
            "reading choices");
        s.bind(environment);
        while (s.step()) {
            const auto group = groups.find({s.integer(0), s.integer(1), policy_from(s.view(2)), clock_from(s.view(3))});
            if (group == groups.end()) continue;
            for (Candidate& c : group->second.candidates) {
                c.row.chosen = c.row.config == s.view(4) && c.row.variant_version == s.integer32(5);
            }
        }
    }

    static void fill(SnapshotRow& row, const Statement& s) {
        row.median_us = s.real(7);
        row.q1_us = s.real(8);
        row.q3_us = s.real(9);
        row.ci_low_us = s.real(10);
        row.ci_high_us = s.real(11);
        row.samples = s.integer(12);
        row.prepare_us = s.real(13);
        row.workspace_bytes = s.integer(14);
        row.format_bytes = s.integer(15);
        row.deterministic = s.boolean(16);
        row.approximate = s.boolean(17);
        row.max_error = s.real(18, std::numeric_limits<double>::infinity());
    }

    /// Moves the groups that no better source has answered into the snapshot.
    std::size_t keep(std::unordered_map<GroupId, Group, GroupIdHash>& groups, const SnapshotEntry& origin) {
        std::size_t kept = 0;
        for (auto& [id, group] : groups) {
            const auto [graph_id, problem_id, policy, clock] = id;
            const auto graph = fingerprints_.find(graph_id);
            const auto problem = problems_.find(problem_id);
            if (graph == fingerprints_.end() || problem == problems_.end()) continue;
            const Snapshot::EntryKey key{graph->second, problem->second, policy, clock};
            const auto before = snapshot_.entries_.find(key);
            if (before != snapshot_.entries_.end() && before->second.current_rows > 0) continue;
            SnapshotEntry entry = origin;
            entry.clock = clock;
            entry.taken_at = std::move(group.taken_at);
            entry.rows = newest_ok(group.candidates);
            if (entry.rows.empty()) continue;
            for (const SnapshotRow& row : entry.rows) entry.current_rows += is_current(row) ? 1 : 0;
            if (before != snapshot_.entries_.end()) {
                // What answered so far is of other versions throughout: it gives way to what can be used.
                if (entry.current_rows == 0) continue;
                snapshot_.rows_ -= before->second.rows.size();
            }
            kept += entry.rows.size();
            snapshot_.entries_.insert_or_assign(key, std::move(entry));
        }
        snapshot_.rows_ += kept;
        return kept;
    }

    bool is_current(const SnapshotRow& row) const {
        return !current_ || current_(row.config.substr(0, row.config.find('{')), row.variant_version);
    }

    static std::vector<SnapshotRow> newest_ok(std::vector<Candidate>& candidates) {
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
            return std::tie(a.median_us, a.config, a.variant_version) <
                   std::tie(b.median_us, b.config, b.variant_version);
        });
        return rows;
    }

    Snapshot& snapshot_;
    std::function<bool(std::string_view, std::int32_t)> current_;
    std::unordered_set<std::string_view> interned_;
    std::unordered_map<std::int64_t, Fingerprint> fingerprints_;
    std::unordered_map<std::int64_t, Problem> problems_;
    std::unordered_map<std::int64_t, std::pair<std::uint32_t, std::uint32_t>> parts_of_;
};

Snapshot Snapshot::load(std::span<const std::filesystem::path> paths, const Environment& here,
                        const SnapshotOptions& options) {
    Snapshot snapshot;
    SnapshotReader reader(snapshot, options);
    for (const auto& path : paths) {
        const auto index = static_cast<std::uint32_t>(snapshot.files_.size());
        SnapshotFile& file = snapshot.files_.emplace_back();
        file.path = path;
        std::error_code code;
        if (!std::filesystem::exists(path, code)) {
            file.state = SnapshotFile::State::missing;
            continue;
        }
        try {
            OpenOptions open;
            open.warn = options.warn;
            const Store store = Store::open(path, Mode::read_only, open);
            const ReadTransaction reading(store.database());  // a writer may commit between two statements
            reader.read_file(store, here, index);
        } catch (const Error& error) {
            if (!options.skip_unreadable && index == 0) throw;
            file.state = SnapshotFile::State::unreadable;
            file.problem = error.what();
        }
    }
    return snapshot;
}

Snapshot Snapshot::load(const std::filesystem::path& path, const Environment& here, const SnapshotOptions& options) {
    return load(std::span(&path, 1), here, options);
}

std::size_t Snapshot::EntryKeyHash::operator()(const EntryKey& key) const noexcept {
    // The fingerprint is a hash already; the rest is small numbers.
    std::uint64_t h = key.graph.lo;
    const Problem& p = key.problem;
    for (const auto v :
         {static_cast<std::uint64_t>(p.k), static_cast<std::uint64_t>(p.heads), static_cast<std::uint64_t>(p.op),
          static_cast<std::uint64_t>(p.self_loop) * 512 + static_cast<std::uint64_t>(p.dtype) * 64 +
              static_cast<std::uint64_t>(p.reduce) * 16 + static_cast<std::uint64_t>(p.weighted) * 8 +
              static_cast<std::uint64_t>(p.direction),
          static_cast<std::uint64_t>(key.policy) * 8 + static_cast<std::uint64_t>(key.clock)}) {
        h = (h ^ v) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
}

const SnapshotEntry* Snapshot::find(const Fingerprint& graph, const Problem& problem, Policy policy,
                                    Clock clock) const {
    const auto found = entries_.find({graph, problem, policy, clock});
    return found == entries_.end() ? nullptr : &found->second;
}

const SnapshotEntry* Snapshot::find(const Fingerprint& graph, const Problem& problem, Policy policy) const {
    const SnapshotEntry* best = nullptr;
    for (const Clock clock : {Clock::span, Clock::events, Clock::host}) {
        const SnapshotEntry* entry = find(graph, problem, policy, clock);
        // The first file that has rows which count, whatever their clock.
        const auto usefulness = [](const SnapshotEntry& e) {
            return std::tuple(e.current_rows > 0, -static_cast<std::int64_t>(e.file), e.current_rows, e.rows.size());
        };
        if (entry && (!best || usefulness(*entry) > usefulness(*best))) best = entry;
    }
    return best;
}

const SnapshotModel* Snapshot::model(Op op, Policy policy) const {
    const auto found = models_.find({op, policy});
    return found == models_.end() ? nullptr : &found->second;
}

const std::vector<FormatBuild>* Snapshot::format_builds(const Fingerprint& graph) const {
    const auto found = format_builds_.find(graph);
    return found == format_builds_.end() ? nullptr : &found->second;
}

std::span<const SnapshotPart> Snapshot::parts(const SnapshotRow& row) const {
    return std::span(parts_).subspan(row.first_part, row.part_count);
}

}  // namespace gnntune::store
