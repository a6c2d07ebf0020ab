// A graph of the database, named on the command line, with the environment that it was measured in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/variant.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// By name, by the first digits of its fingerprint, or by the content of a file; in the first layer that knows it. A
/// graph that none knows has id 0. Throws ErrorKind::input in words if it is no file either, or if several have that
/// name.
store::GraphRow find_known_graph(std::span<const store::Store> layers, const Parsed& parsed, Output& out);

/// What to do about it that nothing was measured `on` a device: "tune it first" with the command that measures what
/// `options` say on the graph of the command line, by the policy and clock, on the device and into the database that were
/// asked for (FILE stands for the graph's file where a name was given), or why that device has no such times.
std::string tune_advice(const Parsed& parsed, const Device& on, std::string_view options);

/// The same graph as `store` knows it, for ids are a database's own; with id 0, which nothing was measured of, if it does
/// not.
store::GraphRow graph_in(const store::Store& store, const store::GraphRow& graph);

/// The clocks that `--clock` leaves over, in the order in which they count: span, events, host. Throws
/// ErrorKind::invalid_argument if it names none.
std::vector<Clock> clocks_asked(const Parsed& parsed);

/// Of several environments `here`, else the newest with measurements of the graph and any of the problems by the policy
/// (the first) and the clocks that were asked for; only of `here`'s backend where `--device` has named one.
std::optional<store::EnvironmentRow> find_environment(const store::Store& store, const Environment& here,
                                                      std::int64_t graph, const std::vector<Problem>& problems,
                                                      const Parsed& parsed);

/// A problem on a known graph, without features. `device` must outlive the query.
Query known_query(const GraphRecord& graph, const Device& device, const Problem& problem);

}  // namespace gnntune::tools
