#include "profiles/library/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/threads.hpp"
#include "core/include/gnntune/gnntune.h"
#include "core/registry/typical.hpp"
#include "kernels/register_all.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/library/memory.hpp"
#include "profiles/library/transient.hpp"
#include "profiles/library/tuning.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#include "profiles/library/device_arrays.hpp"
#endif

namespace gnntune::library {
namespace {

using store::SnapshotFile;

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
}

// "dispatch" in a comma-separated list, or "all".
bool wants_dispatch_lines(std::string_view list) {
    while (!list.empty()) {
        const std::string_view word = list.substr(0, list.find(','));
        if (word == "dispatch" || word == "all") return true;
        list.remove_prefix(std::min(list.size(), word.size() + 1));
    }
    return false;
}

// Of variants for other backends nothing is known: a plan refuses them.
void require_known_params(const Variant& variant, const Params& params, const Device& device) {
    if (variant.backend != device.backend) return;
    constexpr std::int32_t kTypicalWidth = 64;
    const auto query = possible_query(variant, kTypicalWidth, device);
    if (!query) return;
    const Params known = variant.default_params(*query);
    for (const auto& [name, value] : params.values()) {
        if (known.find(name)) continue;
        std::string names;
        for (const auto& [other, unused] : known.values()) names += (names.empty() ? "" : ", ") + other;
        throw invalid_argument(fmt::format("GNNTUNE_FORCE: {} has no param '{}'; expected {}", variant.id, name,
                                           names.empty() ? "none" : names));
    }
}

std::optional<Config> forced_config(const Device& device) {
    const char* text = variable("GNNTUNE_FORCE");
    if (!text) return std::nullopt;
    Config config;
    try {
        config = Config::parse(text);
    } catch (const Error& error) {
        throw invalid_argument(std::string("GNNTUNE_FORCE: ") + error.what());
    }
    const Variant* variant = all_variants().find(config.variant);
    if (!variant) {
        throw invalid_argument("GNNTUNE_FORCE: this build has no variant '" + config.variant +
                               "'; `gnntune list` names those it has");
    }
    require_known_params(*variant, config.params, device);
    return config;
}

Sources sources_of(const OpenRequest& request) {
    if (request.sources) return *request.sources;
    const char* text = variable("GNNTUNE_SOURCES");
    if (!text) return Sources::database_then_model;
    for (const Sources known : {Sources::database, Sources::database_then_model, Sources::tune_on_miss}) {
        if (text == to_text(known)) return known;
    }
    throw invalid_argument(std::string("GNNTUNE_SOURCES: expected db_only, db_then_model or tune_on_miss, not '") +
                           text + "'");
}

double tune_budget_us_of(const OpenRequest& request) {
    if (request.tune_budget_us) return *request.tune_budget_us;
    const char* text = variable("GNNTUNE_TUNE_BUDGET");
    if (!text) return kTuneBudgetUs;
    double value = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error == std::errc() && value > 0 && value < 1e9) {
        constexpr std::pair<std::string_view, double> kUnits[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
        for (const auto& [unit, factor] : kUnits) {
            if (unit == end) return value * factor;
        }
    }
    throw invalid_argument(std::string("GNNTUNE_TUNE_BUDGET: expected a time such as 200ms or 2s, not '") + text + "'");
}

std::optional<std::filesystem::path> user_database_of(const OpenRequest& request, std::vector<std::string>& notes) {
    if (request.db_path) {
        // Whatever folder the application goes to later. An empty path names no file.
        const std::filesystem::path path = request.db_path;
        return path.empty() ? path : std::filesystem::absolute(path);
    }
    try {
        return store::default_user_database();
    } catch (const Error& error) {
        if (request.require_database) throw;
        notes.emplace_back(error.what());
        return std::nullopt;
    }
}

[[noreturn]] void refuse_device(const std::string& words) {
    throw Error(ErrorKind::no_device,
                words + ", or set options.backend to GNNTUNE_BACKEND_CPU or GNNTUNE_BACKEND_AUTO");
}

#if GNNTUNE_WITH_CUDA
std::optional<Device> usable_cuda_device(const OpenRequest& request, std::vector<std::string>& notes) {
    const bool demanded = request.backend == BackendChoice::cuda;
    const int count = cuda_device_count();
    if (!demanded && count == 0) return std::nullopt;
    if (count == 0) {
        refuse_device(
            "options.backend is GNNTUNE_BACKEND_CUDA, and no CUDA device is usable here; see what nvidia-smi says");
    }
    int ordinal = request.ordinal;
    if (ordinal == -1) GNNTUNE_CUDA(cudaGetDevice(&ordinal));
    if (ordinal < 0 || ordinal >= count) {
        throw Error(ErrorKind::no_device,
                    fmt::format("options.device is {}; expected a CUDA device from 0 to {}, or -1 for the current one",
                                ordinal, count - 1));
    }
    Device device = cuda_device(ordinal);
    if (has_code_for(device)) return device;
    const std::string why = fmt::format(
        "{} has compute capability {}, for which this build has no code; build with "
        "-DCMAKE_CUDA_ARCHITECTURES={}",
        device.environment.device_name, device.environment.compute_capability, device.compute_capability);
    if (demanded) throw Error(ErrorKind::no_device, why);
    notes.push_back(why);
    return std::nullopt;
}
#else
std::optional<Device> usable_cuda_device(const OpenRequest& request, std::vector<std::string>&) {
    if (request.backend != BackendChoice::cuda) return std::nullopt;
    refuse_device(
        "options.backend is GNNTUNE_BACKEND_CUDA, and this build has no CUDA backend; install nvcc and build again");
}
#endif

Device pick_device(const OpenRequest& request, std::vector<std::string>& notes) {
    if (request.backend != BackendChoice::cpu) {
        if (auto device = usable_cuda_device(request, notes)) return *std::move(device);
    }
    return cpu_device();
}

std::string why_read_only(const std::optional<std::filesystem::path>& user_database) {
    if (!user_database) return "no database is named: set GNNTUNE_DB, or give gnntune_open one";
    if (!store::is_shipped(*user_database)) return {};
    return user_database->string() + ": came with the installation, and is not written to";
}

store::Snapshot load_snapshot(const OpenRequest& request, const std::optional<std::filesystem::path>& user_database,
                              Device& device, std::vector<std::string>& notes) {
    const auto layers = user_database ? store::layers_over(*user_database) : store::shipped_databases();
    store::SnapshotOptions options;
    options.skip_unreadable = !request.require_database;
    options.current = [](std::string_view variant, std::int32_t version) {
        const Variant* v = all_variants().find(variant);
        return v && v->version == version;
    };
    options.warn = [&](const std::string& sentence) { notes.push_back(sentence); };
    store::Snapshot snapshot = store::Snapshot::load(layers, device.environment, options);
    device.errata = store::errata_of(layers, options.warn);
    if (request.require_database && snapshot.files().front().state == SnapshotFile::State::missing) {
        throw database_error(layers.front().string() + ": no such database; `gnntune tune --db` creates one");
    }
    // What of them is not understood is said; that they cannot be read at all is a database that cannot be read.
    if (request.require_database) (void)store::Store::open(layers.front(), store::Mode::read_only).errata();
    return snapshot;
}

std::string about(const Context& context, const SnapshotFile& file) {
    const std::string shown = context.shown(file.path);
    switch (file.state) {
        case SnapshotFile::State::missing:
            return shown + ": missing";
        case SnapshotFile::State::unreadable:
            return "unreadable: " + file.problem;
        case SnapshotFile::State::loaded:
            break;
    }
    if (file.best_match == store::EnvironmentMatch::none) {
        return shown + ": nothing measured on this device";
    }
    const auto measurements = context.snapshot.measurements(file);
    if (!measurements) return shown + ": cannot be read any more";
    return fmt::format("{}: {} measurements, environment {}", shown, *measurements, store::to_text(file.best_match));
}

}  // namespace

const Registry& all_variants() {
    // Never destroyed: plans may outlive the destructors of static objects.
    static const Registry* const kRegistry = [] {
        auto registry = std::make_unique<Registry>();
        register_all(*registry);
        return registry.release();
    }();
    return *kRegistry;
}

std::string_view to_text(Sources sources) {
    switch (sources) {
        case Sources::database:
            return "db_only";
        case Sources::database_then_model:
            return "db_then_model";
        case Sources::tune_on_miss:
            return "tune_on_miss";
    }
    return "?";
}

std::string Context::no_database_reason() const {
    const auto& files = snapshot.files();
    const bool any = std::any_of(files.begin(), files.end(), [](const SnapshotFile& file) {
        return file.best_match != store::EnvironmentMatch::none;
    });
    if (any) return {};
    if (files.empty()) return "no database: " + (notes.empty() ? "none was named" : notes.back());
    return "no measurements: " + about(*this, files.front());
}

std::string Context::describe() const {
    const Environment& e = device.environment;
    std::string text =
        fmt::format("gnntune    {}.{}.{}\nbackend    {}\ndevice     {} ({}, {} {}{})\n", GNNTUNE_VERSION_MAJOR,
                    GNNTUNE_VERSION_MINOR, GNNTUNE_VERSION_PATCH, to_text(device.backend), e.device_name,
                    e.compute_capability, e.multiprocessors, device.backend == Backend::cuda ? "SMs" : "threads",
                    e.driver.empty() ? "" : ", driver " + e.driver + ", CUDA " + e.cuda_runtime);
    for (const SnapshotFile& file : snapshot.files()) text += "database   " + about(*this, file) + "\n";
    text += "sources    " + std::string(to_text(sources));
    if (sources == Sources::tune_on_miss) text += fmt::format(", at most {:g} ms each", tune_budget_us / 1e3);
    text += "\n";
    for (const auto& [key, model] : snapshot.models()) text += "model      " + store::to_text(model.row) + "\n";
    if (device.errata) text += fmt::format("errata     {}\n", device.errata->all().size());
    if (forced) text += "forced     " + forced->text() + "\n";
    const bool limited = formats_memory->limit_bytes() != SIZE_MAX;
    text += fmt::format("formats    {} bytes held{}\n", formats_memory->held_bytes(),
                        limited ? fmt::format(", at most {}", formats_memory->limit_bytes()) : std::string());
    for (const std::string& note : notes) text += "note       " + note + "\n";
    return text;
}

Context open_context(const OpenRequest& request) {
    require_possible_threads();  // else the host would crash with the first parallel loop
    std::vector<std::string> notes;
    const char* verbose = variable("GNNTUNE_VERBOSE");
    const Sources sources = sources_of(request);
    const double tune_budget_us = tune_budget_us_of(request);
    Device device = pick_device(request, notes);
    std::optional<Config> forced = forced_config(device);
    std::vector<std::string> unnamed;
    const auto user_database = user_database_of(request, unnamed);
    std::string read_only = why_read_only(user_database);
    const std::shared_ptr<MemorySource> memory = request.memory ? request.memory : plain_memory(device);
    store::Snapshot snapshot = load_snapshot(request, user_database, device, notes);
    notes.insert(notes.end(), unnamed.begin(), unnamed.end());  // where no_database_reason() looks for it
    const Backend backend = device.backend;
    return {
        all_variants(),
        std::move(device),
        std::move(snapshot),
        std::move(forced),
        verbose && wants_dispatch_lines(verbose),
        sources,
        tune_budget_us,
        user_database.value_or(std::filesystem::path()),
        std::move(read_only),
        request.db_path == nullptr,
        store::shipped_databases(),
        std::make_unique<ModelSource>(all_variants()),
        std::make_shared<BucketMemo>(),
        std::make_shared<Tunings>(),
        std::make_shared<SharedFlags>(backend),
        memory,
        request.memory_in_stream_order,
        std::make_shared<CountingMemory>(memory, request.format_limit_bytes, "the formats of this context's graphs"),
        std::move(notes)};
}

}  // namespace gnntune::library
