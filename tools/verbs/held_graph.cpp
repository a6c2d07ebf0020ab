#include "tools/verbs/held_graph.hpp"

#include <fmt/format.h>

#include "tools/common/program.hpp"

namespace gnntune::tools {

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
    InputGraph description = input;
    description.graph = {};
    std::unique_ptr<HeldGraph> held;
    const bool fits = hold_among(sized_name(input), of, out, [&] {
        held.reset(new HeldGraph{{}, tuner::GraphWorkload(registry(), device, std::move(input.graph))});
        held->workload.graph().features();
    });
    if (!fits) {
        ++outcome.unread;
        return nullptr;
    }
    const Graph& graph = held->workload.graph();
    const Features& features = held->workload.graph().features();
    GraphRecord& record = held->record;
    record = graph_record(description, held->workload.graph().fingerprint(), features);
    record.n_rows = graph.n_rows();
    record.n_cols = graph.n_cols();
    record.m = graph.m();
    out.note(fmt::format("graph   {}  n {}  m {}  mean degree {:.2f}  max {}  fingerprint {}", record.name,
                         record.n_rows, record.m, features.degree_mean, features.degree_max,
                         record.fingerprint.text()));
    return held;
}

}  // namespace gnntune::tools
