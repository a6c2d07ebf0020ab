#include "tools/known_graph.hpp"

#include <algorithm>
#include <filesystem>

#include "core/common/error.hpp"
#include "tools/feature_list.hpp"
#include "tools/graphs.hpp"

namespace gnntune::tools {

store::GraphRow find_known_graph(const store::Store& store, const Parsed& parsed, Output& out) {
    const std::string& text = parsed.arguments.front();
    const auto known = store.find_graphs(text);
    if (known.size() == 1) return known.front();
    if (known.size() > 1) {
        std::string names;
        for (const auto& g : known)
            names += " " + g.record.name + " (" + g.record.fingerprint.text().substr(0, 8) + ")";
        throw input_error("'" + text + "' names several graphs of the database:" + names + "; give a fingerprint");
    }
    if (!std::filesystem::exists(text) && !text.starts_with("standin/")) {
        throw input_error("'" + text + "' is neither a file nor the name or fingerprint of a graph in " +
                          store.path().string() + "; gnntune db ls graphs shows those");
    }
    InputGraph input = find_graph(text, read_options(parsed), out).load(out);
    const auto id = store.find_graph_id(fingerprint(input.graph.view()));
    for (const auto& g : store.graphs()) {
        if (id && g.id == *id) return g;
    }
    store::GraphRow unknown;
    const CsrView view = input.graph.view();
    unknown.record = {
        fingerprint(view), view.n_rows, view.n_cols, view.m, input.name, text, features_json(features_of(view)).dump()};
    return unknown;
}

std::optional<store::EnvironmentRow> find_environment(const store::Store& store, const Environment& here,
                                                      std::int64_t graph, const std::vector<Problem>& problems) {
    std::optional<store::EnvironmentRow> found;
    for (const auto& e : store.environments()) {
        const bool measured = std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
            const auto problem = store.find_problem_id(p);
            return problem && !store.measurements({graph, e.id, *problem}).empty();
        });
        if (!measured) continue;
        if (e.environment == here) return e;
        found = e;
    }
    return found;
}

Query known_query(const GraphRecord& graph, const Device& device, const Problem& problem) {
    const bool reversed = problem.direction == Direction::reversed;
    return {problem, reversed ? graph.n_cols : graph.n_rows, reversed ? graph.n_rows : graph.n_cols, graph.m, nullptr,
            &device};
}

}  // namespace gnntune::tools
