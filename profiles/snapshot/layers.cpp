#include "profiles/snapshot/layers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "core/common/error.hpp"
#include "core/model/model_features.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/snapshot/nearness.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

// The program or library that holds this code; empty if the loader cannot say.
fs::path own_file() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&shipped_databases), &info) == 0 || !info.dli_fname) return {};
    // The name of a program is what it was started by, which the shell may have found elsewhere; a library's is a path.
    const bool is_path = std::string_view(info.dli_fname).find('/') != std::string_view::npos;
    std::error_code failed;
    fs::path path = fs::canonical(is_path ? info.dli_fname : "/proc/self/exe", failed);
    return failed ? fs::path() : path;
}

fs::path shipped_folder() {
    if (const char* folder = std::getenv("GNNTUNE_PROFILES")) return folder;
    const fs::path file = own_file();
    if (file.empty()) return {};
    // PREFIX/bin or PREFIX/lib, or PREFIX/lib/x86_64-linux-gnu.
    const fs::path folder = file.parent_path();
    for (const fs::path& prefix : {folder.parent_path(), folder.parent_path().parent_path()}) {
        std::error_code ignored;
        if (const fs::path found = prefix / "share/gnntune/profiles"; fs::is_directory(found, ignored)) return found;
    }
    return {};
}

void for_each_shipped(const std::function<void(Store&&)>& visit) {
    for (const fs::path& path : shipped_databases()) {
        try {
            visit(Store::open(path, Mode::read_only));
        } catch (const Error&) {  // `gnntune doctor` and `db check` say what is wrong with it
        }
    }
}

}  // namespace

std::string missing_profiles() {
    const char* folder = std::getenv("GNNTUNE_PROFILES");
    std::error_code ignored;
    if (!folder || !*folder) return {};
    const std::string named = "GNNTUNE_PROFILES is '" + std::string(folder) + "', which ";
    const std::string advice = "correct it, or unset it for those of the installation";
    if (!fs::is_directory(folder, ignored)) {
        return named + "is no folder that can be read: no shipped databases, models or errata are used; " + advice;
    }
    if (!shipped_databases().empty()) return {};
    // The source tree keeps them packed; a build unpacks them.
    for (const fs::path& file : entries_of(folder)) {
        if (file.extension() == ".xz") {
            return named + "has packed databases only (*.tar.xz), which are not read: unpack them, " + advice;
        }
    }
    return {};
}

std::vector<fs::path> shipped_databases() {
    std::vector<fs::path> found;
    const fs::path folder = shipped_folder();
    if (folder.empty()) return found;
    for (fs::path& file : entries_of(folder)) {
        if (file.extension() == ".db") found.push_back(std::move(file));
    }
    const auto bytes = [](const fs::path& file) {
        std::error_code ignored;
        const auto size = fs::file_size(file, ignored);
        return ignored ? 0 : size;
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const fs::path& a, const fs::path& b) { return bytes(a) > bytes(b); });
    return found;
}

bool is_shipped(const fs::path& path) {
    const auto all = shipped_databases();
    return std::any_of(all.begin(), all.end(), [&](const fs::path& shipped) {
        std::error_code ignored;
        return fs::equivalent(shipped, path, ignored);
    });
}

std::vector<fs::path> layers_over(const fs::path& path) {
    std::vector<fs::path> all{path};
    for (fs::path& shipped : shipped_databases()) {
        std::error_code ignored;
        if (!fs::equivalent(shipped, path, ignored)) all.push_back(std::move(shipped));
    }
    return all;
}

fs::path shipped_errata() {
    const fs::path folder = shipped_folder();
    if (folder.empty()) return {};
    std::error_code ignored;
    const fs::path file = folder / "errata.txt";
    return fs::exists(file, ignored) ? file : fs::path();
}

std::shared_ptr<const Errata> errata_of(std::span<const fs::path> paths,
                                        const std::function<void(const std::string&)>& warn, Mode mode,
                                        const fs::path& opened_later) {
    if (const std::string missing = missing_profiles(); warn && !missing.empty()) warn(missing);
    std::vector<Erratum> all;
    const auto say = [&](const std::string& where, const std::string& words) {
        if (warn) warn(where + ": " + words + "; it keeps nothing from running");
    };
    const fs::path shipped = shipped_errata();
    std::error_code unasked;
    std::ifstream lines;
    if (fs::is_regular_file(shipped, unasked)) lines.open(shipped);  // a pipe would never open
    std::string line;
    for (int number = 1; !shipped.empty() && std::getline(lines, line); ++number) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
        try {
            all.push_back(parse_erratum(line));
        } catch (const Error& error) {
            say(shipped.string() + " line " + std::to_string(number), error.what());
        }
    }
    if (!shipped.empty() && (!lines.is_open() || lines.bad()) && warn) {
        warn(shipped.string() +
             ": the errata that came with the program cannot be read, and keep nothing from running");
    }
    for (const fs::path& path : paths) {
        try {
            if (!is_there(path)) continue;
            for (const ErratumRow& row : Store::open(path, mode).errata()) {
                if (row.erratum) {
                    all.push_back(*row.erratum);
                } else {
                    say(path.string() + ", erratum " + std::to_string(row.id), row.complaint);
                }
            }
        } catch (const Error& error) {
            if (warn && path != opened_later)
                warn(path.string() + ": its errata cannot be read, and keep nothing from running: " + error.what());
        }
    }
    return all.empty() ? nullptr : std::make_shared<const Errata>(std::move(all));
}

std::string shown(const fs::path& path) {
    return shown(path, shipped_databases());
}

std::string shown(const fs::path& path, std::span<const fs::path> shipped) {
    return path.string() + (std::find(shipped.begin(), shipped.end(), path) == shipped.end() ? "" : " (shipped)");
}

std::vector<Store> open_layers(const fs::path& path, WhenMissing missing,
                               const std::function<void(const std::string&)>& warn) {
    std::vector<Store> stores;
    OpenOptions options;
    options.warn = warn;
    if (is_there(path)) stores.push_back(Store::open(path, Mode::read_only, options));
    std::error_code ignored;
    for_each_shipped([&](Store&& shipped) {
        if (stores.empty() || !fs::equivalent(shipped.path(), path, ignored)) stores.push_back(std::move(shipped));
    });
    if (stores.empty() && missing == WhenMissing::error) {
        stores.push_back(Store::open(path, Mode::read_only));  // throws, in words
    }
    return stores;
}

std::vector<LayeredModel> shipped_models(const Environment& here) {
    std::vector<LayeredModel> models;
    for_each_shipped([&](Store&& shipped) {
        const double distance = distance_to(shipped, here);
        for (ModelRow& row : shipped.models()) models.push_back({std::move(row), shipped.path(), distance});
    });
    std::stable_sort(models.begin(), models.end(),
                     [](const LayeredModel& a, const LayeredModel& b) { return a.distance < b.distance; });
    return models;
}

std::vector<LayeredModel> models_of_layers(const Store& store, const Environment& here) {
    const auto key = [](const ModelRow& row) { return std::tuple(row.backend, row.op, row.policy); };
    std::vector<LayeredModel> models;
    std::set<std::tuple<Backend, Op, Policy>> known;
    // Where the user has none it is a shipped one, which is no nearer for being the first.
    if (!is_shipped(store.path())) {
        for (ModelRow& row : store.models()) {
            if (model::is_readable(row.feature_version)) known.insert(key(row));
            models.push_back({std::move(row), store.path()});
        }
    }
    std::map<std::tuple<Backend, Op, Policy>, fs::path> speaks;
    for (LayeredModel& m : shipped_models(here)) {
        if (known.contains(key(m.row))) continue;
        const auto [at, first] = speaks.try_emplace(key(m.row), m.path);
        if (at->second != m.path) continue;
        if (first) {  // those of the store are of other features
            std::erase_if(models, [&](const LayeredModel& old) { return key(old.row) == key(m.row); });
        }
        models.push_back(std::move(m));
    }
    return models;
}

std::string stands_in(const Store* store, const Environment& here) {
    if (store && !is_shipped(store->path())) {
        const auto own = store->models(here.backend);
        if (!own.empty()) return {};
    }
    std::string nearest;
    double least = 0;
    for_each_shipped([&](Store&& shipped) {
        if (shipped.models(here.backend).empty()) return;
        const double distance = distance_to(shipped, here);
        if (!nearest.empty() && distance >= least) return;
        least = distance;
        nearest = shipped.path().filename().string();
        for (const EnvironmentRow& row : shipped.environments()) {
            if (row.environment.backend == here.backend) nearest = row.environment.device_name;
        }
    });
    if (nearest.empty() || least == 0) return {};
    return "no cost model was made on " + here.device_name + ": those of " + nearest +
           " stand in; `gnntune adapt` brings them here, in two minutes";
}

DeviceConstants constants_of_layers(const Store& store, const Environment& environment) {
    DeviceConstants constants = stored_device_constants(store, environment);
    for_each_shipped([&](Store&& shipped) {
        if (constants.copy_gbps <= 0 && constants.gather.empty()) {
            constants = stored_device_constants(shipped, environment);
        }
    });
    return constants;
}

}  // namespace gnntune::store
