#include "tools/common/write_graph.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/common/error.hpp"
#include "core/graph/fingerprint.hpp"

namespace gnntune::tools {

io::Format output_format(const std::string& path, const Parsed& parsed) {
    if (const auto word = parsed.find("to")) {
        const auto format = io::parse_format(*word);
        if (!format)
            throw invalid_argument(fmt::format("--to: expected mtx, edges, npz, metis or gnng, not '{}'", *word));
        return *format;
    }
    if (path == "-")
        throw invalid_argument("-: standard output has no name that says which format to write; give --to");
    if (const auto format = io::format_of_name(path)) return *format;
    throw invalid_argument(fmt::format(
        "{}: the name does not say which format to write; end it in .mtx, .txt, .npz, .graph or .gnng, or give --to",
        path));
}

void write_and_report(const std::string& path, io::Format format, const CsrGraph& graph, const std::string& name,
                      Output& out) {
    if (path == "-" && (format == io::Format::npz || format == io::Format::gnng) && isatty(STDOUT_FILENO) == 1) {
        throw invalid_argument(
            fmt::format("-: {} is binary, and standard output is a terminal; write it to a file or a pipe",
                        io::format_name(format)));
    }
    io::write_graph(path, graph, format);
    if (path == "-") {
        out.note(fmt::format("{}: {} x {} with {} edges written as {}, fingerprint {}", name, graph.n_rows,
                             graph.n_cols, graph.m(), io::format_name(format), fingerprint(graph.view()).text()));
        return;
    }
    Table table({{"name", "name", ""},
                 {"format", "format", ""},
                 {"n_rows", "rows", ""},
                 {"n_cols", "columns", ""},
                 {"m", "edges", ""},
                 {"weighted", "weighted", ""},
                 {"fingerprint", "fingerprint", ""},
                 {"file", "file", ""}});
    table.add({name, std::string(io::format_name(format)), std::int64_t{graph.n_rows}, std::int64_t{graph.n_cols},
               graph.m(), graph.weighted(), fingerprint(graph.view()).text(), path});
    out.print(table);
}

}  // namespace gnntune::tools
