#include "profiles/library/miss_store.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <ctime>
#include <filesystem>

#include "core/common/error.hpp"
#include "core/include/gnntune/gnntune.h"
#include "profiles/database/file_system.hpp"
#include "profiles/fields/features_json.hpp"

namespace gnntune::library {
namespace {

// An application gives a graph no name; `gnntune tune` gives it that of its file.
GraphRecord record_of(Graph& graph) {
    GraphRecord record;
    record.fingerprint = graph.fingerprint();
    record.n_rows = graph.n_rows();
    record.n_cols = graph.n_cols();
    record.m = graph.m();
    record.name = store::stand_in_name(record.fingerprint);
    record.features_json = store::features_text(graph.features());
    return record;
}

store::RunInfo run_info(const Context& context) {
    store::RunInfo info;
    info.command = "gnntune_plan_create of an application (tune_on_miss)";
    info.tool_version = fmt::format("{}.{}.{}", GNNTUNE_VERSION_MAJOR, GNNTUNE_VERSION_MINOR, GNNTUNE_VERSION_PATCH);
    info.seed = kMissSeed;
    info.host = context.device.environment.device_name;
    return info;
}

store::Store open_for_writing(const Context& context) {
    if (!context.read_only.empty()) throw database_error(context.read_only);
    const std::filesystem::path& path = context.user_database;
    // Here, since the store would look up in the environment whether it may make the folder.
    const auto folder = path.parent_path();
    std::error_code code;
    if (context.may_make_folder) std::filesystem::create_directories(folder, code);
    if (!folder.empty() && !store::is_there(folder)) {
        throw database_error(fmt::format("{}: the folder {} does not exist", path.string(), folder.string()));
    }
    return store::Store::open(path, store::Mode::read_write_create);
}

/// While this lives, a write of this thread past the application's limit (ulimit -f) fails with an error, and does not
/// end the application.
class FileSizeSignalHeld {
public:
    FileSizeSignalHeld() {
        sigemptyset(&signal_);
        sigaddset(&signal_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    }
    FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
    FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;
    ~FileSizeSignalHeld() {
        if (sigismember(&before_, SIGXFSZ) == 1) return;  // the application takes care of it itself
        const timespec at_once{};
        while (sigtimedwait(&signal_, nullptr, &at_once) == SIGXFSZ) {
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t signal_{};
    sigset_t before_{};
};

}  // namespace

void store_measured(const Context& context, Graph& graph, const Problem& problem, const Measured& measured) {
    const FileSizeSignalHeld held;
    store::Store store = open_for_writing(context);
    store::Transaction transaction = store.transaction();
    const store::Key key{store.graph_id(record_of(graph)), store.environment_id(context.device.environment),
                         store.problem_id(problem)};
    const std::int64_t run = store.begin_run(run_info(context));
    for (const Measurement& m : measured.rows.rows) store.add_measurement(run, key, m);
    if (measured.choice) store.set_choice(run, key, measured.rows.policy, measured.rows.clock, *measured.choice);
    store.end_run(run);
    transaction.commit();
}

}  // namespace gnntune::library
