// Answers that this process has measured itself, beside those of the files.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/common/utc.hpp"
#include "profiles/snapshot/snapshot.hpp"

namespace gnntune::store {

/// Makes new answers of older ones, which stay as they are for who has them, and of measurements.
class SnapshotLearner {
public:
    explicit SnapshotLearner(SnapshotAnswers& answers) : answers_(answers) {}

    /// What `before` says, but for the entry that is learnt anew.
    void copy(const SnapshotAnswers& before, const LearnedRows& learned) {
        answers_.format_builds_ = before.format_builds_;
        for (const SnapshotEntry& entry : before.entries_) {
            if (entry.policy == learned.policy && entry.clock == learned.clock) continue;
            SnapshotEntry& copied = answers_.entries_.emplace_back(entry);
            for (SnapshotRow& row : copied.rows) {
                const auto parts = before.parts(row);
                row.config = intern(row.config);
                row.first_part = static_cast<std::uint32_t>(answers_.parts_.size());
                for (const SnapshotPart& part : parts) {
                    answers_.parts_.push_back({intern(part.config), part.variant_version});
                }
            }
        }
    }

    void add(const LearnedRows& learned, const Environment& here) {
        SnapshotEntry entry;
        entry.policy = learned.policy;
        entry.clock = learned.clock;
        entry.match = EnvironmentMatch::exact;
        entry.environment = here;
        entry.learned = true;
        entry.taken_at = utc_now();
        for (const Measurement& m : learned.rows) {
            if (m.status == MeasurementStatus::ok) entry.rows.push_back(row_of(m, learned));
        }
        if (entry.rows.empty()) return;
        entry.current_rows = entry.rows.size();
        std::sort(entry.rows.begin(), entry.rows.end(),
                  [](const SnapshotRow& a, const SnapshotRow& b) { return a.median_us < b.median_us; });
        answers_.entries_.push_back(std::move(entry));
    }

private:
    SnapshotRow row_of(const Measurement& m, const LearnedRows& learned) {
        SnapshotRow row;
        row.config = intern(m.config.text());
        row.variant_version = m.variant_version;
        row.deterministic = m.deterministic;
        row.approximate = m.approximate;
        row.chosen = learned.chosen == m.config;
        row.median_us = m.median_us;
        row.q1_us = m.q1_us;
        row.q3_us = m.q3_us;
        row.ci_low_us = m.ci_low_us;
        row.ci_high_us = m.ci_high_us;
        row.samples = m.samples;
        row.prepare_us = m.prepare_us;
        row.workspace_bytes = m.workspace_bytes;
        row.format_bytes = m.format_bytes;
        row.max_error = m.max_error;
        row.first_part = static_cast<std::uint32_t>(answers_.parts_.size());
        row.part_count = static_cast<std::uint32_t>(m.parts.size());
        for (const PartVersion& part : m.parts) {
            answers_.parts_.push_back({intern(part.config.text()), part.variant_version});
        }
        return row;
    }

    std::string_view intern(std::string_view text) {
        if (const auto found = interned_.find(text); found != interned_.end()) return *found;
        return *interned_.insert(answers_.texts_.emplace_back(text)).first;
    }

    SnapshotAnswers& answers_;
    std::unordered_set<std::string_view> interned_;
};

void Snapshot::learn(const Fingerprint& graph, const Problem& problem, const LearnedRows& learned) const {
    const auto before = answers(graph, problem);
    auto now = std::make_shared<SnapshotAnswers>();
    SnapshotLearner learner(*now);
    learner.copy(*before, learned);
    learner.add(learned, here_);
    keep(graph, problem, std::move(now));
}

}  // namespace gnntune::store
