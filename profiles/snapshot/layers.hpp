// The databases that answer together: the user's, or the one that a program or `--db` names, and beneath it those that
// came with this installation. The first that knows an answer gives it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/registry/errata.hpp"
#include "profiles/store/device_constants.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {

/// A sentence if $GNNTUNE_PROFILES names something that is no folder, or one of packed databases; else empty. Not safe
/// beside setenv in another thread.
std::string missing_profiles();

/// Databases that are installed with the library, the largest first, which knows most: *.db in $GNNTUNE_PROFILES (empty: none), else in
/// share/gnntune/profiles beside the bin or lib folder that this code was loaded from. Empty if there is no such
/// folder. Reads the environment and the file system; not safe beside setenv in another thread.
std::vector<std::filesystem::path> shipped_databases();

/// Whether `path` leads to one of them, by whatever name: they are never written to.
bool is_shipped(const std::filesystem::path& path);

/// `path`, then the shipped ones.
std::vector<std::filesystem::path> layers_over(const std::filesystem::path& path);

/// The file of errata beside the shipped databases, a line each (core/registry/errata.hpp; # begins a comment); empty if
/// there is none.
std::filesystem::path shipped_errata();

/// What must not run: of the file beside the shipped databases, then of each of `paths` that can be read. What is not
/// understood is left out and said to `warn`, which may be empty, and so is missing_profiles(). Null if there are none.
/// `mode`: how they are opened, read_only or untouched. `opened_later`: of paths, one of which it is not said here that it
/// cannot be read.
std::shared_ptr<const Errata> errata_of(std::span<const std::filesystem::path> paths,
                                        const std::function<void(const std::string&)>& warn = {},
                                        Mode mode = Mode::read_only, const std::filesystem::path& opened_later = {});

/// The path, and " (shipped)" behind that of a database that came with the installation.
std::string shown(const std::filesystem::path& path);
/// The same for a program that knows them: reads neither the environment nor the file system.
std::string shown(const std::filesystem::path& path, std::span<const std::filesystem::path> shipped);

enum class WhenMissing { error, nothing };
/// layers_over(path), opened for reading. A shipped one that cannot be read is passed over. Throws ErrorKind::database
/// if `path` is there and cannot be read, or (WhenMissing::error) if there is no database at all. `warn` is
/// OpenOptions::warn of `path`.
std::vector<Store> open_layers(const std::filesystem::path& path, WhenMissing missing = WhenMissing::error,
                               const std::function<void(const std::string&)>& warn = {});

struct LayeredModel {
    ModelRow row;
    std::filesystem::path path;  ///< of the database that has it
    double distance = 0;         ///< of a shipped one's devices to the present one
};

/// Every model of the shipped databases, those whose device is `here`, or most like it, first.
std::vector<LayeredModel> shipped_models(const Environment& here);

/// The models of a store, then those of shipped databases for a backend, op and policy of which it has none with this
/// build's features: of several shipped ones that whose device is `here`, or most like it (profiles/snapshot/nearness.hpp),
/// the first by name among equals. A shipped file that cannot be read is passed over.
std::vector<LayeredModel> models_of_layers(const Store& store, const Environment& here);

/// A sentence if models that came with the installation answer for `here`, and none of them was made on a device of that
/// name: whose models stand in, and the command that mends it. Empty if `store`, which may be null, has a model of its own
/// for that backend, or nothing was shipped for it.
std::string stands_in(const Store* store, const Environment& here);

/// As stored_device_constants(), and where the store has none, of the shipped databases.
DeviceConstants constants_of_layers(const Store& store, const Environment& environment);

}  // namespace gnntune::store
