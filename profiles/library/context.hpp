// One processor and what is known about it: what gnntune_open makes. Immutable, so any number of threads may use it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/registry/config.hpp"
#include "core/registry/device.hpp"
#include "core/registry/registry.hpp"
#include "profiles/snapshot.hpp"

namespace gnntune::library {

enum class BackendChoice { automatic, cpu, cuda };

struct OpenRequest {
    const char* db_path = nullptr;  ///< null: the user's default database
    BackendChoice backend = BackendChoice::automatic;
    int ordinal = 0;  ///< -1: the current device
    bool require_database = false;
};

struct Context {
    const Registry& registry;
    Device device;
    store::Snapshot snapshot;
    std::optional<Config> forced;    ///< GNNTUNE_FORCE
    bool verbose = false;            ///< GNNTUNE_VERBOSE=dispatch
    std::vector<std::string> notes;  ///< sentences about what did not go as one may expect

    /// Why the database has nothing to say at all; empty if it has.
    std::string no_database_reason() const;
    /// For people, several lines.
    std::string describe() const;
};

/// Every variant of this build; made at first use, never destroyed.
const Registry& all_variants();

/// Throws Error; gnntune.h says when.
Context open_context(const OpenRequest& request);

}  // namespace gnntune::library
