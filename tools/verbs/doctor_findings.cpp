#include "tools/verbs/doctor_findings.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <unistd.h>
#include <optional>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/common/error.hpp"
#include "core/common/threads.hpp"
#include "core/registry/older_code.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/program.hpp"
#include "tuner/clocks.hpp"

namespace gnntune::tools {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

constexpr std::uintmax_t kLittleDisk = std::uintmax_t{100} << 20;

/// Version of the installed CUDA driver as the driver says it, 13000 for 13.0; 0 without one. Opened by hand, so that a
/// build without CUDA can tell, too.
int driver_version() {
    void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return 0;
    int version = 0;
    // NOLINTNEXTLINE: dlsym has no type
    const auto get = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
    if (!get || get(&version) != 0) version = 0;
    dlclose(library);
    return version;
}

/// Whether the driver lets only root read counters; nothing if it does not say.
std::optional<bool> counters_for_root_only() {
    std::ifstream params("/proc/driver/nvidia/params");
    for (std::string line; std::getline(params, line);) {
        if (line.starts_with("RmProfilingAdminOnly:")) return line.find('1') != std::string::npos;
    }
    return std::nullopt;
}

Finding look_at_counters() {
    const auto restricted = counters_for_root_only();
    if (!restricted) return {State::note, "counters", "the driver does not say who may read hardware counters"};
    if (!*restricted) return {State::good, "counters", "every user may read hardware counters"};
    if (geteuid() == 0) return {State::good, "counters", "only root may read hardware counters, and this is root"};
    return {
        State::note, "counters",
        "only root may read hardware counters: times are measured without them; to allow it, load the nvidia module "
        "with NVreg_RestrictProfilingToAdminUsers=0"};
}

void look_at_devices(std::vector<Finding>& findings, bool wanted) {
    const int count = cuda_device_count();
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        const Device d = cuda_device(ordinal);
        const Environment& e = d.environment;
        const std::string older = older_code_of(d);
        findings.push_back(
            {older.empty() ? State::good : State::note, fmt::format("cuda:{}", ordinal),
             fmt::format("{}, compute capability {}, {} SMs, {} memory, L2 {}, driver {}, runtime {}{}", e.device_name,
                         e.compute_capability, e.multiprocessors, bytes_text(e.memory_bytes), bytes_text(e.l2_bytes),
                         e.driver, e.cuda_runtime, older)});
    }
    if (count == 0) {
        findings.push_back({wanted ? State::problem : State::note, "cuda",
                            "no CUDA device is usable: gnntune works on the CPU (--device cpu)"});
    }
}

/// Whether OpenMP takes the text for numbers of threads: one, or one for each level of nesting.
bool says_threads(std::string_view text) {
    constexpr std::string_view kBlanks = " \t";
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != text.npos;
        std::string_view word = text.substr(0, comma);
        if (more) text.remove_prefix(comma + 1);
        word.remove_prefix(std::min(word.find_first_not_of(kBlanks), word.size()));
        word = word.substr(0, word.find_last_not_of(kBlanks) + 1);
        unsigned long threads = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), threads);
        if (error != std::errc{} || end != word.data() + word.size() || threads == 0) return false;
    }
    return true;
}

/// The folder itself, or the nearest one above it that exists.
fs::path existing_folder(fs::path folder) {
    std::error_code ignored;
    while (!folder.empty() && !fs::exists(folder, ignored) && folder != folder.parent_path()) {
        folder = folder.parent_path();
    }
    return folder.empty() ? fs::path(".") : folder;
}

Finding look_at_file(const fs::path& path) {
    bool there = false;
    try {
        there = store::is_there(path);
    } catch (const Error& error) {
        return {State::problem, "database", error.what()};
    }
    if (!there) {
        const fs::path folder = existing_folder(fs::absolute(path).parent_path());
        if (access(folder.c_str(), W_OK) != 0) {
            return {State::problem, "database",
                    fmt::format("{}: not there, and {} may not be written to; use --db FILE", path.string(),
                                folder.string())};
        }
        return {State::note, "database", fmt::format("{}: not there yet; gnntune tune creates it", path.string())};
    }
    try {
        const store::Store store = store::Store::open(path, store::Mode::read_only);
        std::int64_t measurements = 0;
        for (const auto& run : store.runs()) measurements += run.measurements;
        const bool writable = access(path.c_str(), W_OK) == 0;
        return {writable ? State::good : State::note, "database",
                fmt::format("{}: schema {}, {} graphs, {} measurements{}", path.string(), store.schema(),
                            store.graphs().size(), measurements, writable ? "" : "; it may not be written to")};
    } catch (const Error& error) {
        return {State::problem, "database", error.what()};
    }
}

}  // namespace

std::vector<Finding> look_at_build() {
    std::int64_t cuda = 0;
    for (const Variant& v : registry().variants()) cuda += v.backend == Backend::cuda;
    const auto all = static_cast<std::int64_t>(registry().variants().size());
    const std::string commit = *git_commit() ? fmt::format(" (commit {})", git_commit()) : "";
    const bool release = std::string_view(build_type()) == "Release";
    return {
        {State::good, "build",
         fmt::format("gnntune {}{}, {} build by {}", version(), commit, build_type(), compiler())},
        {release ? State::good : State::note, "speed",
         release ? "optimised build: times mean something" : "not a Release build: do not trust times"},
        {*cuda_toolkit() ? State::good : State::note, "backends",
         *cuda_toolkit() ? fmt::format("CUDA {} and CPU: {} variants, {} of them for CUDA", cuda_toolkit(), all, cuda)
                         : fmt::format("CPU only: {} variants; build with nvcc for CUDA", all)}};
}

std::vector<Finding> look_at_host() {
    const Device cpu = cpu_device();
    const Environment& e = cpu.environment;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    std::vector<Finding> findings{
        {State::good, "cpu",
         fmt::format("{}, {}, {} memory, last-level cache {}", e.device_name, e.compute_capability,
                     bytes_text(e.memory_bytes), bytes_text(e.l2_bytes))}};
    const bool oversubscribed = cpu.multiprocessors > online;
    const std::string threads = fmt::format("{} threads on {} processors", cpu.multiprocessors, online);
    const char* asked = std::getenv("OMP_NUM_THREADS");
    if (asked && !says_threads(asked)) {
        findings.push_back({State::note, "openmp",
                            fmt::format("OMP_NUM_THREADS is '{}', expected a number from 1 to {}, so it is passed "
                                        "over: {}",
                                        asked, kMostThreads, threads)});
        return findings;
    }
    findings.push_back(
        {oversubscribed ? State::note : State::good, "openmp", threads + " (OMP_NUM_THREADS sets another number)"});
    return findings;
}

std::vector<Finding> look_at_cuda(bool wanted) {
    std::vector<Finding> findings;
    const int driver = driver_version();
    if (driver > 0) {
        findings.push_back({State::good, "driver",
                            fmt::format("the CUDA driver supports CUDA {}.{}", driver / 1000, driver % 1000 / 10)});
    } else {
        findings.push_back(
            {wanted ? State::problem : State::note, "driver", "no CUDA driver (libcuda.so.1) is installed"});
    }
    look_at_devices(findings, wanted);
    if (const std::string cupti = tuner::cupti_location(); !cupti.empty()) {
        findings.push_back({State::good, "cupti", fmt::format("{} is installed", cupti)});
    } else {
        findings.push_back(
            {State::note, "cupti",
             "CUPTI is not part of this build or not installed: without it, times come from CUDA events"});
    }
    if (driver > 0) findings.push_back(look_at_counters());
    return findings;
}

// Databases that came with the program.
std::vector<Finding> look_at_profiles() {
    std::vector<Finding> findings;
    if (const std::string missing = store::missing_profiles(); !missing.empty()) {
        findings.push_back({State::problem, "profiles", missing});
    }
    for (const fs::path& path : store::shipped_databases()) {
        try {
            if (const auto damage = store::Database::damage_of(path)) {
                findings.push_back({State::problem, "profiles",
                                    fmt::format("{} is damaged ({}); install it again", store::shown(path), *damage)});
                continue;
            }
            const auto store = store::Store::open(path, store::Mode::read_only);
            findings.push_back({State::good, "profiles",
                                fmt::format("{}: {} graphs, {} cost models", store::shown(path), store.graphs().size(),
                                            store.models().size())});
        } catch (const Error& error) {
            findings.push_back({State::problem, "profiles", error.what()});
        }
    }
    return findings;
}

std::vector<Finding> look_at_models(const CommonOptions& common) {
    try {
        const fs::path path = common.database_path();
        std::optional<store::Store> store;
        if (store::is_there(path)) store = store::Store::open(path, store::Mode::read_only);
        const std::string words = store::stands_in(store ? &*store : nullptr, common.bare_device().environment);
        if (!words.empty()) return {{State::note, "models", words}};
    } catch (const Error&) {  // what is wrong with the device or the database stands elsewhere
    }
    return {};
}

std::vector<Finding> look_at_database(const CommonOptions& common) {
    std::vector<Finding> findings;
    fs::path path;
    try {
        path = common.database_path();
    } catch (const Error& error) {
        return {{State::problem, "database", error.what()}};
    }
    findings.push_back(look_at_file(path));
    if (const auto network = store::network_file_system_of(path)) {
        findings.push_back({State::note, "file system",
                            fmt::format("the database is on {}: one writer at a time, no write-ahead log", *network)});
    }
    std::error_code failed;
    const fs::space_info space = fs::space(existing_folder(fs::absolute(path).parent_path()), failed);
    if (!failed) {
        const bool little = space.available < kLittleDisk;
        const auto bytes = static_cast<std::int64_t>(std::min<std::uintmax_t>(space.available, INT64_MAX));
        findings.push_back({little ? State::note : State::good, "disk",
                            fmt::format("{} free where the database is", bytes_text(bytes))});
    }
    for (Finding& finding : look_at_profiles()) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace gnntune::tools
