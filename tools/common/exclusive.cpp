#include "tools/common/exclusive.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/common/error.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/program.hpp"
#include "tuner/measuring/gpu_state.hpp"

namespace gnntune::tools {
namespace {

std::string names(const std::vector<tuner::GpuProcess>& processes) {
    std::vector<std::string> words;
    for (const tuner::GpuProcess& p : processes) {
        words.push_back(p.name.empty() ? std::to_string(p.pid) : fmt::format("{} ({})", p.pid, p.name));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void add_exclusive_options(Options& options) {
    options.group("GPU").add_options()(
        "no-wait", boost::program_options::bool_switch(),
        "fail with exit code 4 if another gnntune measures on the GPU, instead of waiting");
}

std::optional<tuner::DeviceLock> exclusive(const Device& device, const Parsed& parsed, Output& out) {
    if (device.backend != Backend::cuda) return std::nullopt;
    tuner::DeviceLock::Options options;
    options.wait = !parsed.flag("no-wait");
    options.command = command_line();
    options.stop = [] { return interrupted(); };
    bool waited = false;
    options.waiting = [&](const tuner::DeviceLock::Holder& holder) {
        waited = true;
        out.warn(fmt::format("waiting for {}, which is in use for measuring by {}", device.environment.device_name,
                             tuner::DeviceLock::describe(holder)));
    };
    std::optional<tuner::DeviceLock> lock;
    try {
        lock = tuner::DeviceLock::take(device.uuid, tuner::DeviceLock::default_folders(), options);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::runtime) throw;
        out.warn(fmt::format("{}; measuring goes on without it", e.what()));
    }
    if (interrupted()) return lock;
    auto others = tuner::other_processes(device);
    if (waited && !others.empty()) {
        // The one that was waited for may still be on its way out.
        std::this_thread::sleep_for(std::chrono::seconds(1));
        others = tuner::other_processes(device);
    }
    if (!others.empty()) {
        out.warn(fmt::format("{} is not alone: {} {} on it; times may be too long", device.environment.device_name,
                             others.size() == 1 ? "process" : "processes", names(others)));
    }
    return lock;
}

}  // namespace gnntune::tools
