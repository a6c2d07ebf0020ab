// The store as a dispatcher needs it: every usable measurement for the present environment, read once into a hash map.
//
// Thread-safety: immutable once loaded; any number of threads may look up at once. Loading opens the files read-only,
// also from read-only media, and holds no file open afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/fingerprint.hpp"
#include "core/model/roofline.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"
#include "profiles/store.hpp"

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
    std::string_view config;  ///< canonical text; lives as long as the Snapshot
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
    std::uint32_t first_part = 0;  ///< Snapshot::parts(row)
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
    Clock clock = Clock::events;
    EnvironmentMatch match = EnvironmentMatch::none;
    std::uint32_t file = 0;         ///< index into Snapshot::files()
    std::uint32_t environment = 0;  ///< index into Snapshot::environments()
    std::size_t current_rows = 0;   ///< those that SnapshotOptions::current accepts
    std::string taken_at;           ///< of the newest row
};

struct SnapshotFile {
    enum class State { loaded, missing, unreadable };
    std::filesystem::path path;
    State state = State::loaded;
    std::string problem;  ///< why it is unreadable
    EnvironmentMatch best_match = EnvironmentMatch::none;
    std::int64_t rows = 0;  ///< taken from it
};

/// A fitted cost model, not yet decoded: most programs ask few of them.
struct SnapshotModel {
    ModelRow row;
    std::uint32_t file = 0;  ///< index into Snapshot::files()
};

struct SnapshotOptions {
    /// An unreadable first file is noted in files() instead of thrown, as the others always are: for applications that
    /// prefer a default to an error.
    bool skip_unreadable = false;
    /// Whether this version of a variant is the one that would run. Entries without such rows do not stand in the way
    /// of others. Empty: every version counts.
    std::function<bool(std::string_view variant, std::int32_t version)> current;
    /// As OpenOptions::warn of profiles/store.hpp.
    std::function<void(const std::string&)> warn;
};

class Snapshot {
public:
    Snapshot() = default;
    /// Reads `paths` in order of preference: the user's file before the shipped ones. Each (graph, problem, policy,
    /// clock) is answered by the first file that has it, there by the exact environment before near ones (the newest
    /// first). A missing file is noted in files(). Throws ErrorKind::database for a file that cannot be read (or notes
    /// it).
    static Snapshot load(std::span<const std::filesystem::path> paths, const Environment& here,
                         const SnapshotOptions& options = {});
    static Snapshot load(const std::filesystem::path& path, const Environment& here,
                         const SnapshotOptions& options = {});

    Snapshot(Snapshot&&) = default;
    Snapshot& operator=(Snapshot&&) = default;

    /// Rows taken with `clock`, or null.
    const SnapshotEntry* find(const Fingerprint& graph, const Problem& problem, Policy policy, Clock clock) const;
    /// Rows of the first file that has any, there of the clock that has most of them (span before events before host
    /// among equals), or null.
    const SnapshotEntry* find(const Fingerprint& graph, const Problem& problem, Policy policy) const;

    /// What building the graph's formats costs in the environment that answers for it; null if nobody measured it.
    const std::vector<FormatBuild>* format_builds(const Fingerprint& graph) const;

    /// Parts of a composition, in order; empty for a plain variant. The row does not hold if one has another version
    /// now.
    std::span<const SnapshotPart> parts(const SnapshotRow& row) const;

    /// The cost model of the present backend, or null: of the first file that has one fitted on this build's features,
    /// there the newest; if all are of other features, the first file's.
    const SnapshotModel* model(Op op, Policy policy) const;
    const std::map<std::pair<Op, Policy>, SnapshotModel>& models() const { return models_; }
    /// Of the present device or another of its name, from the first file that has any; else empty.
    const DeviceConstants& constants() const { return constants_; }

    const std::vector<SnapshotFile>& files() const { return files_; }
    const std::vector<Environment>& environments() const { return environments_; }
    std::size_t entries() const { return entries_.size(); }
    std::size_t rows() const { return rows_; }

private:
    friend class SnapshotReader;
    struct EntryKey {
        Fingerprint graph;
        Problem problem;
        Policy policy = Policy::hot;
        Clock clock = Clock::events;
        bool operator==(const EntryKey&) const = default;
    };
    struct EntryKeyHash {
        std::size_t operator()(const EntryKey& key) const noexcept;
    };

    std::unordered_map<EntryKey, SnapshotEntry, EntryKeyHash> entries_;
    std::map<Fingerprint, std::vector<FormatBuild>> format_builds_;
    std::deque<std::string> texts_;  // configs, once each; a deque never moves its strings
    std::vector<SnapshotPart> parts_;
    std::vector<SnapshotFile> files_;
    std::vector<Environment> environments_;
    std::map<std::pair<Op, Policy>, SnapshotModel> models_;
    DeviceConstants constants_;
    std::size_t rows_ = 0;
};

}  // namespace gnntune::store
