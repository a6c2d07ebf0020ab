// gnntune convert: a graph in another format.
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/output_file.hpp"
#include "tools/common/write_graph.hpp"

namespace gnntune::tools {

int run_convert(const Args& args) {
    constexpr const char* kUsage = "gnntune convert [options] IN OUT";
    Options options("convert",
                    {kUsage,
                     "Reads a graph and writes it in another format. The fingerprint stays the same unless an "
                     "option changes the graph. OUT appears only when it is complete; - is standard output, and "
                     "needs --to.",
                     {"gnntune convert graph.mtx graph.gnng", "gnntune convert --symmetric edges.txt graph.mtx.gz",
                      "gnntune convert --from edges --base 1 data.dat graph.npz"}});
    options.group("Writing").add_options()("to", value("FORMAT"),
                                           "mtx, edges, npz, metis or gnng (default: by the name of OUT)");
    add_graph_options(options);
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 2, 2, kUsage);

    Output out("convert", parsed->common);
    const std::string& path = parsed->arguments[1];
    const io::Format format = output_format(path, *parsed);
    require_no_database(path, parsed->common);
    const InputGraph input = find_graph(parsed->arguments[0], read_options(*parsed), out).load(out);
    write_and_report(path, format, input.graph, input.name, out);
    return kExitOk;
}

}  // namespace gnntune::tools
