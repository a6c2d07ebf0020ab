#include "tools/common/known_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "profiles/fields/features_json.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"

namespace gnntune::tools {

store::GraphRow find_known_graph(std::span<const store::Store> layers, const Parsed& parsed, Output& out) {
    const std::string& text = parsed.arguments.front();
    for (const store::Store& store : layers) {
        const auto known = store.find_graphs(text);
        if (known.size() == 1) {
            refuse_reading(read_options(parsed), fmt::format("'{}' is a graph of the database; give the file, or leave "
                                                             "them out",
                                                             text));
            return known.front();
        }
        if (known.size() > 1) {
            std::string names;
            for (const auto& g : known)
                names += " " + g.record.name + " (" + g.record.fingerprint.text().substr(0, 8) + ")";
            throw input_error("'" + text + "' names several graphs of the database:" + names + "; give a fingerprint");
        }
    }
    if (!names_a_file(text) && !text.starts_with("standin/")) {
        std::string files;
        for (const store::Store& store : layers) files += (files.empty() ? "" : " or ") + store.path().string();
        throw input_error("'" + text + "' is neither a file nor the name or fingerprint of a graph in " + files +
                          "; gnntune db ls graphs --db " + shell_quoted(layers.front().path().string()) +
                          " shows those");
    }
    InputGraph input = find_graph(text, read_options(parsed), out).load(out);
    for (const store::Store& store : layers) {
        const auto known = store.find_graphs(fingerprint(input.graph.view()).text());
        if (!known.empty()) return known.front();
    }
    store::GraphRow unknown;
    const CsrView view = input.graph.view();
    hold_among(sized_name(input), 1, out, [&] {
        unknown.record = {fingerprint(view),
                          view.n_rows,
                          view.n_cols,
                          view.m,
                          input.name,
                          text,
                          store::features_text(features_of(view))};
    });
    return unknown;
}

std::string tune_advice(const Parsed& parsed, const Device& on, std::string_view options) {
    const bool cpu = on.backend == Backend::cpu;
    if (cpu && one_policy(parsed) == Policy::graph) {
        return "CUDA graphs need a GPU: give --device cuda, or --policy hot or cold";
    }
    const std::string& graph = parsed.arguments.front();
    const std::string& device = parsed.common.device_text;
    const std::string policy = parsed.text("policy");
    const std::string clock = parsed.text("clock");
    if (cpu && (clock == "span" || clock == "events" || clock == "both")) {
        return fmt::format(
            "--clock {} is for GPUs, and the CPU is timed by the host's clock: leave it out, or give "
            "--device cuda",
            clock);
    }
    return fmt::format("tune it first: gnntune tune {} {}{}{}{}{}", names_a_file(graph) ? shell_quoted(graph) : "FILE",
                       options, policy == "hot" ? "" : " --policy " + policy,
                       clock == "auto" || clock == "host" ? "" : " --clock " + clock,
                       device.empty() ? "" : " --device " + device,
                       parsed.common.db ? " --db " + shell_quoted(*parsed.common.db) : "");
}

store::GraphRow graph_in(const store::Store& store, const store::GraphRow& graph) {
    const auto known = store.find_graphs(graph.record.fingerprint.text());
    if (!known.empty()) return known.front();
    store::GraphRow unknown = graph;
    unknown.id = 0;
    return unknown;
}

std::vector<Clock> clocks_asked(const Parsed& parsed) {
    const std::string text = parsed.text("clock");
    std::vector<Clock> out;
    for (const Clock c : {Clock::span, Clock::events, Clock::host}) {
        if (text == "auto" || text == "both" || text == to_text(c)) out.push_back(c);
    }
    if (out.empty()) throw invalid_argument("--clock: expected span, events, host, both or auto, not '" + text + "'");
    return out;
}

std::optional<store::EnvironmentRow> find_environment(const store::Store& store, const Environment& here,
                                                      std::int64_t graph, const std::vector<Problem>& problems,
                                                      const Parsed& parsed) {
    const Policy policy = one_policy(parsed);
    const auto clocks = clocks_asked(parsed);
    std::optional<store::EnvironmentRow> found;
    for (const auto& e : store.environments()) {
        if (!parsed.common.device_text.empty() && e.environment.backend != here.backend) continue;
        const bool measured = std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
            const auto problem = store.find_problem_id(p);
            return problem && std::any_of(clocks.begin(), clocks.end(), [&](Clock clock) {
                       return !store.measurements({graph, e.id, *problem}, {policy, clock, {}}).empty();
                   });
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
