#include "tools/db/accuracies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/common/program.hpp"
#include "tools/db/environments.hpp"

namespace gnntune::tools {
namespace {

/// Whether this build has every config of the row in the version that was measured.
bool stands(const store::AccuracyRow& row) {
    return std::all_of(row.calls.begin(), row.calls.end(), [](const store::AccuracyCall& call) {
        const Variant* variant = registry().find(call.config.variant);
        return variant && variant->version == call.variant_version;
    });
}

/// " | " between the parts of a sum, "; " between sums: neither is in a config.
std::string calls_text(const store::AccuracyRow& row) {
    std::string text;
    for (const store::AccuracyCall& call : row.calls) {
        text += fmt::format("{}{} | {} | {} | {:.6g}", text.empty() ? "" : "; ", to_text(call.problem), call.rule,
                            call.config.text(), call.time_us);
    }
    return text;
}

}  // namespace

Table accuracy_table(const store::Store& store, std::optional<std::int64_t> graph) {
    EnvironmentColumns environments(store);
    Table table = environments.table({{"graph", "graph", ""},
                                      {"model_name", "model", ""},
                                      {"way", "sums", ""},
                                      {"device", "device", ""},
                                      {"accuracy_percent", "accuracy", "%", 2},
                                      {"loss_percent", "loss", "%", 2},
                                      {"low_percent", "from", "%", 2},
                                      {"high_percent", "to", "%", 2},
                                      {"models", "models", ""},
                                      {"vertices", "vertices", ""},
                                      {"time_us", "sums take", "us", 1},
                                      {"speedup", "as fast", "x", 2},
                                      {"stands", "stands", ""},
                                      {"accuracy", "", "", 0, false},
                                      {"exact_accuracy", "", "", 0, false},
                                      {"loss", "", "", 0, false},
                                      {"loss_low", "", "", 0, false},
                                      {"loss_high", "", "", 0, false},
                                      {"max_error", "", "", 0, false},
                                      {"exact_us", "", "", 0, false},
                                      {"model", "digest", "", 0, false},
                                      {"fingerprint", "", "", 0, false},
                                      {"calls", "", "", 0, false},
                                      {"run", "run", "", 0, false},
                                      {"taken_at", "taken", ""}});
    std::map<std::int64_t, std::string> devices;
    for (const store::EnvironmentRow& e : store.environments()) devices[e.id] = e.environment.device_name;
    for (const store::AccuracyRow& r : store.accuracies()) {
        if (graph && *graph != r.graph) continue;
        table.add(environments.row({r.graph_name,
                                    r.model_name,
                                    r.way,
                                    devices[r.environment],
                                    100 * r.accuracy,
                                    100 * r.loss,
                                    100 * r.loss_low,
                                    100 * r.loss_high,
                                    r.models,
                                    r.vertices,
                                    r.time_us,
                                    r.exact_us / r.time_us,
                                    stands(r),
                                    r.accuracy,
                                    r.exact_accuracy,
                                    r.loss,
                                    r.loss_low,
                                    r.loss_high,
                                    r.max_error,
                                    r.exact_us,
                                    r.model,
                                    r.fingerprint.text(),
                                    calls_text(r),
                                    r.run,
                                    r.taken_at},
                                   r.environment));
    }
    return table;
}

std::vector<std::string> accuracy_lines(const store::Store& store, std::int64_t graph,
                                        std::optional<std::int64_t> environment, const Problem& problem) {
    struct Found {
        std::string name;
        std::size_t ways = 0;
        std::optional<store::AccuracyRow> fastest;
    };
    std::map<std::string, Found> models;
    for (store::AccuracyRow& row : store.accuracies()) {
        const bool has = std::any_of(row.calls.begin(), row.calls.end(), [&](const store::AccuracyCall& call) {
            Problem stored = call.problem;
            stored.dtype = problem.dtype;
            return stored == problem;
        });
        if (row.graph != graph || (environment && row.environment != *environment) || !has || !stands(row)) continue;
        Found& found = models[row.model];
        found.name = row.model_name;
        ++found.ways;
        const bool allowed = row.loss_high <= kLittleLoss && row.time_us < row.exact_us;
        if (allowed && (!found.fastest || row.time_us < found.fastest->time_us)) found.fastest = std::move(row);
    }
    std::vector<std::string> lines;
    for (const auto& [model, found] : models) {
        const std::string name = fmt::format("{} ({})", found.name, model.substr(0, 8));
        if (!found.fastest) {
            lines.push_back(fmt::format("{}: none of {} faster ways is sure to lose {:.0f} % or less", name, found.ways,
                                        100 * kLittleLoss));
            continue;
        }
        const store::AccuracyRow& r = *found.fastest;
        lines.push_back(
            fmt::format("{} with {}: loses {:.2f} % (95 %: {:.2f} to {:.2f}; {} model{}, {} vertices), sums "
                        "{:.2f} times as fast; for max_accuracy_loss",
                        name, r.way, 100 * r.loss, 100 * r.loss_low, 100 * r.loss_high, r.models,
                        r.models == 1 ? "" : "s", r.vertices, r.exact_us / r.time_us));
    }
    return lines;
}

}  // namespace gnntune::tools
