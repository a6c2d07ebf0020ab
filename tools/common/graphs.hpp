// Graph arguments: files, folders, lists of paths (@list.txt) and stand-ins, read when they are needed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/features/features.hpp"
#include "core/generate/generate.hpp"
#include "core/graph/types.hpp"
#include "core/io/graph_io.hpp"
#include "core/registry/measurement.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// How the name of a stand-in of a published graph begins.
inline constexpr std::string_view kStandinPrefix = "standin/";

/// A graph in memory and where it came from.
struct InputGraph {
    CsrGraph graph;
    std::string name;     ///< file stem, or standin/<name>
    std::string source;   ///< path or generator recipe, and the fix-ups applied
    std::string format;   ///< "mtx", "npz/pyg", ..., or "generated"
    std::string fix_ups;  ///< one sentence without full stop; empty where nothing was changed
};

/// A graph argument that has been found and not been read yet.
struct GraphArgument {
    std::string name;
    std::string source;  ///< as typed or found
    /// Reads or generates it, and prints the fix-ups on stderr. May be called again.
    std::function<InputGraph(Output&)> load;
    bool damaged = false;  ///< a file of a folder of which that is known already: load() throws the reason
};

/// The graph of a recipe, generated when it is loaded.
GraphArgument generated_argument(const generate::Recipe& recipe);

/// Reads one of `of` graphs. Among several, one that cannot be read, or is too large for the formats or the memory, is
/// told on stderr and left out, so that the others are not lost; alone it throws ErrorKind::input.
std::optional<InputGraph> load_among(const GraphArgument& argument, std::size_t of, Output& out);

/// Whether a word of the command line is the name of a file or folder; not if nobody can say.
bool names_a_file(const std::string& word);

/// The file and the size of a graph, for messages about memory.
std::string sized_name(const InputGraph& input);
/// Does the work on one of `of` graphs that takes memory of its size. Where that runs out the graph is left out, as
/// load_among() does: false.
bool hold_among(const std::string& sized, std::size_t of, Output& out, const std::function<void()>& work);

/// Adds the group "Reading graphs": --reverse, --remove-self-loops, --merge-duplicates, --symmetric, --ignore-weights,
/// --base, --vertices, --relabel, --from.
void add_graph_options(Options& options);
io::ReadOptions read_options(const Parsed& parsed);
/// Throws where options for reading graphs are given with a graph that is none of a file: `why` it is not read, such as
/// "is the name of a graph in the database".
void refuse_reading(const io::ReadOptions& options, const std::string& why);

/// Finds the graphs that the arguments name, in their order; a folder's by path. Files in folders that are no graphs
/// are listed on stderr; those that cannot be read are among the graphs. Throws ErrorKind::input for an argument that
/// is no graph, and for a folder that holds none.
std::vector<GraphArgument> find_graphs(const std::vector<std::string>& arguments, const io::ReadOptions& options,
                                       Output& out);
/// Reads the graphs that the arguments of a command line name, one after the other, as load_among() does.
class GraphReader {
public:
    GraphReader(const Parsed& parsed, Output& out);
    /// The next one that can be read; nothing behind the last.
    std::optional<InputGraph> next();
    /// Whether none was left out so far.
    bool all_read() const { return all_read_; }
    /// hold_among() for the graph that next() gave last.
    bool hold(const std::function<void()>& work);

private:
    std::vector<GraphArgument> graphs_;
    Output& out_;
    std::size_t next_ = 0;
    bool all_read_ = true;
    std::string sized_;  ///< of the last graph
};
/// As find_graphs() for exactly one graph; warns of what cannot be read beside it.
GraphArgument find_graph(const std::string& argument, const io::ReadOptions& options, Output& out);

/// The row of the store for a graph, without what is found in its arrays: fingerprint and features.
GraphRecord graph_record(const InputGraph& input);
/// With both.
GraphRecord graph_record(const InputGraph& input, const Fingerprint& fingerprint, const Features& features);

}  // namespace gnntune::tools
