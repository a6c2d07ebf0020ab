// The store as a dispatcher needs it: what the databases say of a problem on a graph on the present device.
//
// Loading reads what every answer needs: which graphs the files know, the cost models of this backend, the constants of
// the device. The measurements of a problem on a graph are read when they are first asked for, and kept. Files are
// opened read-only, also from read-only media, and none is held open between two reads.
//
// Thread-safety: any number of threads may ask at once.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/fingerprint.hpp"
#include "core/model/roofline.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {

/// How well an environment of a file fits the present one.
enum class EnvironmentMatch {
    none,
    near,   ///< same backend, device name and compute capability; other SM count, memory, driver, CUDA or libraries
    exact,  ///< every field equal
};
EnvironmentMatch match(const Environment& stored, const Environment& here);
std::string_view to_text(EnvironmentMatch match);

/// One ok measurement: the newest attempt of its config and version, passed by the oracle.
struct SnapshotRow {
    std::string_view config;  ///< canonical text; lives as long as the SnapshotAnswers
    std::int32_t variant_version = 1;
    bool deterministic = false;
    bool approximate = false;
    bool chosen = false;  ///< by the last tuning
    double median_us = 0;
    double q1_us = 0;
    double q3_us = 0;
    double ci_low_us = 0;
    double ci_high_us = 0;
    std::int64_t samples = 0;
    double prepare_us = 0;
    std::int64_t workspace_bytes = 0;
    std::int64_t format_bytes = 0;
    double max_error = 0;
    std::uint32_t first_part = 0;  ///< SnapshotAnswers::parts(row)
    std::uint32_t part_count = 0;
};

struct SnapshotPart {
    std::string_view config;
    std::int32_t variant_version = 1;
};

/// All rows for one graph, problem, policy and clock. They come from one environment of one file: times of different
/// environments are never compared. Rows of every variant version are kept; the reader drops those that are not his.
struct SnapshotEntry {
    std::vector<SnapshotRow> rows;  ///< fastest first, never empty
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    EnvironmentMatch match = EnvironmentMatch::none;
    std::uint32_t file = 0;  ///< index into Snapshot::files()
    Environment environment;
    std::size_t current_rows = 0;  ///< those that SnapshotOptions::current accepts
    std::string taken_at;          ///< of the newest row
    bool learned = false;          ///< by Snapshot::learn(): `file` says nothing
    /// Conditions of errata that kept configs from being measured for the choice (core/registry/errata.hpp).
    std::vector<std::string> made_under;
};

/// What the files say of one problem on one graph. Immutable.
class SnapshotAnswers {
public:
    /// Rows taken with `clock`, or null.
    const SnapshotEntry* find(Policy policy, Clock clock) const;
    /// Rows of the first file that has any, there of the clock that has most of them (span before events before host
    /// among equals), or null.
    const SnapshotEntry* find(Policy policy) const;
    /// Parts of a composition, in order; empty for a plain variant. The row does not hold if one has another version
    /// now.
    std::span<const SnapshotPart> parts(const SnapshotRow& row) const {
        return std::span(parts_).subspan(row.first_part, row.part_count);
    }
    /// What building the graph's formats costs in the environment that answers for it; null if nobody measured it.
    const std::vector<FormatBuild>* format_builds() const { return format_builds_.empty() ? nullptr : &format_builds_; }
    /// Which file could not be read this time and why, in a sentence; empty if all could. Such answers are not kept:
    /// the next question reads again.
    const std::string& unread() const { return unread_; }

private:
    friend class Snapshot;
    friend class SnapshotReader;
    friend class SnapshotLearner;
    std::vector<SnapshotEntry> entries_;  // one for each policy and clock
    std::vector<FormatBuild> format_builds_;
    std::deque<std::string> texts_;  // configs, once each; a deque never moves its strings
    std::vector<SnapshotPart> parts_;
    std::string unread_;
};

/// What this process has measured of one problem on one graph, on the present device.
struct LearnedRows {
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::vector<Measurement> rows;  ///< one a config; those that are not ok answer nothing
    std::optional<Config> chosen;   ///< of them
};

struct SnapshotFile {
    enum class State { loaded, missing, unreadable };
    std::filesystem::path path;
    State state = State::loaded;
    std::string problem;                                   ///< why it is unreadable
    EnvironmentMatch best_match = EnvironmentMatch::none;  ///< of the environments that it knows
};

/// A fitted cost model, not yet decoded: most programs ask few of them.
struct SnapshotModel {
    ModelRow row;
    std::uint32_t file = 0;  ///< index into Snapshot::files()
    double distance = 0;     ///< of that file's devices to the present one (profiles/snapshot/nearness.hpp)
};

struct SnapshotOptions {
    /// An unreadable first file is noted in files() instead of thrown, as the others always are: for applications that
    /// prefer a default to an error.
    bool skip_unreadable = false;
    /// Whether this version of a variant is the one that would run. Entries without such rows do not stand in the way
    /// of others. Empty: every version counts.
    std::function<bool(std::string_view variant, std::int32_t version)> current;
    /// As OpenOptions::warn of profiles/store/store.hpp.
    std::function<void(const std::string&)> warn;
};

class Snapshot {
public:
    Snapshot();
    /// Reads `paths` in order of preference: the user's file before the shipped ones. Each (graph, problem, policy,
    /// clock) is answered by the first file that has it, there by the exact environment before near ones (the newest
    /// first). A missing file is noted in files(). Throws ErrorKind::database for a file that cannot be read (or notes
    /// it).
    static Snapshot load(std::span<const std::filesystem::path> paths, const Environment& here,
                         const SnapshotOptions& options = {});
    static Snapshot load(const std::filesystem::path& path, const Environment& here,
                         const SnapshotOptions& options = {});

    Snapshot(Snapshot&&) noexcept;
    Snapshot& operator=(Snapshot&&) noexcept;
    ~Snapshot();

    /// Never null. The first question about a problem on a graph opens the files and reads its rows as they are now;
    /// later ones get the same answers. Nothing is read for a graph that no file knew when they were loaded. A file
    /// that cannot be read any more (locked for long, removed, damaged) has no answers: no error, but see unread().
    std::shared_ptr<const SnapshotAnswers> answers(const Fingerprint& graph, const Problem& problem) const;
    /// From now on these rows answer under their policy and clock, whatever files say; what files say under others
    /// stays. Answers that somebody holds do not change.
    void learn(const Fingerprint& graph, const Problem& problem, const LearnedRows& learned) const;
    /// Whether any file knew the graph when they were loaded.
    bool knows(const Fingerprint& graph) const;
    /// As the functions of SnapshotAnswers; null if there is nothing.
    std::shared_ptr<const SnapshotEntry> find(const Fingerprint& graph, const Problem& problem, Policy policy) const;
    std::shared_ptr<const SnapshotEntry> find(const Fingerprint& graph, const Problem& problem, Policy policy,
                                              Clock clock) const;

    /// The cost model of the present backend, or null: of the first file that has one fitted on this build's features,
    /// there the newest; if all are of other features, the first file's. Of shipped files the one whose device is the
    /// present one, or most like it, comes first.
    const SnapshotModel* model(Op op, Policy policy) const;
    const std::map<std::pair<Op, Policy>, SnapshotModel>& models() const { return models_; }
    /// Of the present device or another of its name, from the first file that has any; else empty.
    const DeviceConstants& constants() const { return constants_; }

    const std::vector<SnapshotFile>& files() const { return files_; }
    /// Attempts that a file has of the present device and others of its name, counted now; nothing if it cannot be
    /// read. Takes as long as reading an index does: for people.
    std::optional<std::int64_t> measurements(const SnapshotFile& file) const;

private:
    friend class SnapshotLoader;
    struct Kept;  // answers, under a lock

    void keep(const Fingerprint& graph, const Problem& problem, std::shared_ptr<const SnapshotAnswers> answers) const;

    std::vector<SnapshotFile> files_;
    Environment here_;
    std::function<bool(std::string_view, std::int32_t)> current_;
    std::vector<Fingerprint> graphs_;  // ascending
    std::map<std::pair<Op, Policy>, SnapshotModel> models_;
    DeviceConstants constants_;
    std::unique_ptr<Kept> kept_;
};

}  // namespace gnntune::store
