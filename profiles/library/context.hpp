// One processor and what is known about it: what gnntune_open makes. Immutable but for what `snapshot`, `models`,
// `buckets`, `tunings` and `flags` keep under locks of their own, so any number of threads may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/memory_source.hpp"
#include "core/registry/config.hpp"
#include "core/registry/device.hpp"
#include "core/registry/registry.hpp"
#include "profiles/library/model_source.hpp"
#include "profiles/library/shared_flag.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/snapshot/snapshot.hpp"

namespace gnntune::library {

enum class BackendChoice { automatic, cpu, cuda };

/// What is asked before the default.
enum class Sources { database, database_then_model, tune_on_miss };
std::string_view to_text(Sources sources);

struct OpenRequest {
    const char* db_path = nullptr;  ///< null: the user's default database
    BackendChoice backend = BackendChoice::automatic;
    int ordinal = -1;  ///< -1: the current device
    bool require_database = false;
    std::shared_ptr<MemorySource> memory;       ///< the application's; null: plain
    bool memory_in_stream_order = false;        ///< as gnntune_open_options has it
    std::size_t format_limit_bytes = SIZE_MAX;  ///< of all graphs together
    std::optional<Sources> sources;             ///< nothing: GNNTUNE_SOURCES, else the database, then the model
    std::optional<double> tune_budget_us;       ///< nothing: GNNTUNE_TUNE_BUDGET, else kTuneBudgetUs
};

inline constexpr double kTuneBudgetUs = 200e3;

class BucketMemo;
class Tunings;

struct Context {
    const Registry& registry;
    Device device;
    store::Snapshot snapshot;
    std::optional<Config> forced;  ///< GNNTUNE_FORCE
    bool verbose = false;          ///< GNNTUNE_VERBOSE=dispatch
    Sources sources = Sources::database_then_model;
    double tune_budget_us = kTuneBudgetUs;       ///< of measuring and checking, for Sources::tune_on_miss
    std::filesystem::path user_database;         ///< what is measured is written to
    std::string read_only;                       ///< why it is not, a sentence; empty: it is
    bool may_make_folder = false;                ///< that it lies in
    std::vector<std::filesystem::path> shipped;  ///< databases that came with the installation
    std::unique_ptr<ModelSource> models;
    std::shared_ptr<BucketMemo> buckets;             ///< what was decided for transient graphs
    std::shared_ptr<Tunings> tunings;                ///< what was measured on a miss
    std::shared_ptr<SharedFlags> flags;              ///< never null
    std::shared_ptr<MemorySource> memory;            ///< of graphs and plans; never null
    bool memory_in_stream_order = false;             ///< it keeps the order of streams
    std::shared_ptr<CountingMemory> formats_memory;  ///< of the formats of all graphs, limited; never null
    std::vector<std::string> notes;                  ///< sentences about what did not go as one may expect

    /// Why the database has nothing to say at all; empty if it has.
    std::string no_database_reason() const;
    /// The path of one of its databases, for people.
    std::string shown(const std::filesystem::path& path) const { return store::shown(path, shipped); }
    /// For people, several lines.
    std::string describe() const;
};

/// Every variant of this build; made at first use, never destroyed.
const Registry& all_variants();

/// Throws Error; gnntune.h says when.
Context open_context(const OpenRequest& request);

}  // namespace gnntune::library
