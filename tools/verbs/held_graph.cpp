#include "tools/verbs/held_graph.hpp"

#include <fmt/format.h>

#include <utility>

#include "profiles/fields/features_json.hpp"
#include "tools/common/program.hpp"

namespace gnntune::tools {

std::unique_ptr<HeldGraph> held_graph(InputGraph&& input, const Device& device) {
    GraphRecord record = graph_record(input);
    std::unique_ptr<HeldGraph> held(
        new HeldGraph{std::move(record), tuner::GraphWorkload(registry(), device, std::move(input.graph))});
    Graph& graph = held->workload.graph();
    held->record.features_json = store::features_text(graph.features());
    held->record.fingerprint = graph.fingerprint();
    return held;
}

std::unique_ptr<HeldGraph> hold_graph(const GraphArgument& argument, std::size_t of, const Device& device,
                                      GraphOutcome& outcome, Output& out) {
    auto loaded = load_among(argument, of, out);
    if (!loaded) {
        ++outcome.unread;
        return nullptr;
    }
    InputGraph& input = *loaded;
    if (input.graph.m() == 0) {
        ++outcome.unfit;
        out.warn(input.name + " has no edges: there is nothing to tune");
        return nullptr;
    }
    std::unique_ptr<HeldGraph> held;
    const bool fits = hold_among(sized_name(input), of, out, [&] { held = held_graph(std::move(input), device); });
    if (!fits) {
        ++outcome.unread;
        return nullptr;
    }
    const GraphRecord& record = held->record;
    const Features& features = held->workload.graph().features();
    out.note(fmt::format("graph   {}  n {}  m {}  mean degree {:.2f}  max {}  fingerprint {}", record.name,
                         record.n_rows, record.m, features.degree_mean, features.degree_max,
                         record.fingerprint.text()));
    return held;
}

}  // namespace gnntune::tools
