// METIS: a header `n m [fmt [ncon]]`, then line i holds the 1-based neighbours of vertex i; a blank line is a vertex
// without any. The digits of fmt say whether a line starts with a vertex size, with ncon vertex weights, and whether
// each neighbour is followed by an edge weight. m counts an undirected edge once, though both ends list it.
#include <array>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/lines.hpp"
#include "core/io/detail/numbers.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io::detail {
namespace {

struct MetisHeader {
    std::int64_t n = 0;
    std::int64_t m = 0;
    std::uint64_t skipped = 0;  ///< numbers before the neighbours of a line
    bool weighted = false;
    bool any_weight = false;  ///< whatever stands where weights are counts as 0
};

bool ends_metis_number(char c) {
    return is_blank(c) || c == '\n';
}

MetisHeader read_metis_header(LineReader& lines) {
    std::string_view line;
    const char* p = nullptr;
    do {
        if (!lines.next_line(line))
            fail(lines.name(), "holds no METIS header 'n m [fmt [ncon]]'; the file is cut short");
        p = skip_blanks(line.data());
    } while (*p == '%' || *p == '\n');
    std::array<std::uint64_t, 4> numbers{0, 0, 0, 1};
    std::size_t count = 0;
    for (; *p != '\n' && count < 4; p = skip_blanks(p)) {
        p = parse_id(p, numbers[count]);
        if (!p || !ends_metis_number(*p)) break;
        ++count;
    }
    const auto [n, m, fmt_digits, ncon] = numbers;
    if (!p || *p != '\n' || count < 2 || !is_metis_fmt(fmt_digits) || ncon > 1000) {
        fail_line(lines.name(), lines.line(),
                  "expected the METIS header 'n m [fmt [ncon]]' with fmt of three digits 0 or 1, or a comment that "
                  "starts with %, found {}",
                  quoted(line.data()));
    }
    MetisHeader header;
    header.n = static_cast<std::int64_t>(n);
    header.m = static_cast<std::int64_t>(m);
    require_counts(header.n, header.n, header.m, lines.name());
    header.skipped = (fmt_digits / 100 % 10) + (fmt_digits / 10 % 10 ? ncon : 0);
    header.weighted = fmt_digits % 10 == 1;
    return header;
}

/// How far the line of a vertex has been read, which may come in pieces.
struct VertexLine {
    std::uint64_t skipped = 0;    ///< numbers before the neighbours, of header.skipped
    std::uint64_t neighbour = 0;  ///< the one whose weight comes next; 0: none
    std::int32_t last = -1;
};

/// Parses what `p` has of the line of vertex `row`, up to the '\n' at which `p` is left. `seam`: the line goes on.
const char* read_neighbours(const char* p, const char* end, std::int64_t row, VertexLine& at, bool seam,
                            const MetisHeader& header, EdgeSink& edges, const std::string& name, std::uint64_t line) {
    p = skip_blanks(p);
    std::uint64_t ignored = 0;
    for (; at.skipped < header.skipped && !(seam && *p == '\n'); ++at.skipped) {
        const char* const behind = parse_id(p, ignored);
        if (!behind || !ends_metis_number(*behind)) {
            fail_line(name, line,
                      "expected {} vertex sizes or weights before the neighbours, as the header's fmt says, "
                      "found {}",
                      header.skipped, quoted(p));
        }
        p = skip_blanks(behind);
    }
    while (*p != '\n' || (at.neighbour > 0 && !seam)) {
        const char* const start = p;
        if (at.neighbour == 0) {
            const char* const behind = parse_id(p, at.neighbour);
            if (!behind || !ends_metis_number(*behind)) {
                fail_line(name, line, "expected the neighbours of vertex {}, found {}", row + 1, quoted(p));
            }
            if (at.neighbour < 1 || at.neighbour > static_cast<std::uint64_t>(header.n)) {
                fail_line(name, line, "neighbour {} of vertex {} is outside 1..{}, the vertices of the header",
                          at.neighbour, row + 1, header.n);
            }
            p = skip_blanks(behind);
            if (header.weighted && *p == '\n' && seam) break;
        }
        if (header.weighted) {
            const char* behind = parse_weight(p, end, edges.weights[edges.size]);
            if (header.any_weight && *p != '\n') {
                for (behind = p; !ends_metis_number(*behind);) ++behind;
                edges.weights[edges.size] = 0;
            }
            if (!behind || !ends_metis_number(*behind)) {
                const std::string place = fmt::format("behind neighbour {}", at.neighbour);
                fail_line(name, line, "{}", why_no_weight("edge weight", place, p, end, quoted(start)));
            }
            edges.loss.count(p, behind, edges.weights[edges.size]);
            p = skip_blanks(behind);
        }
        edges.rows[edges.size] = static_cast<std::int32_t>(row);
        edges.cols[edges.size] = static_cast<std::int32_t>(at.neighbour - 1);
        edges.sorted &= edges.cols[edges.size] >= at.last;
        at.last = edges.cols[edges.size++];
        at.neighbour = 0;
    }
    return p;
}

/// Walks the entries in order. The entries (i, j) of ascending i must be those of row j in order, each met once.
void require_symmetric(const CsrGraph& g, const std::string& name) {
    const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    HostVector<std::int32_t> next(g.row_ptr.begin(), g.row_ptr.end());
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (std::int32_t e = g.row_ptr[at(i)]; e < g.row_ptr[at(i) + 1]; ++e) {
            const std::int32_t j = g.col_idx[at(e)];
            const std::int32_t q = next[at(j)]++;
            const bool left = q < g.row_ptr[at(j) + 1];
            if (!left || g.col_idx[at(q)] != i) {
                // An entry of row j before i was not met when its own row went by, so that row lacks it.
                const bool other = left && g.col_idx[at(q)] < i;
                const std::int32_t from = other ? j : i;
                const std::int32_t to = other ? g.col_idx[at(q)] : j;
                fail(name,
                     "vertex {} has the neighbour {}, but vertex {} lacks the neighbour {}; METIS lists each edge at "
                     "both ends, so write a directed graph as an edge list or .mtx",
                     from + 1, to + 1, to + 1, from + 1);
            }
            if (g.weighted() && g.edge_weight[at(q)] != g.edge_weight[at(e)]) {
                fail(name,
                     "the edge from vertex {} to {} has the weight {}, but the one back {}; METIS lists each edge at "
                     "both ends alike, so write a directed graph as an edge list or .mtx",
                     i + 1, j + 1, g.edge_weight[at(e)], g.edge_weight[at(q)]);
            }
        }
    }
}

}  // namespace

RawGraph read_metis(const Input& input, const ReadOptions& options) {
    LineReader lines(open_stream(input.bytes, input.name), input.name, input.limits);
    MetisHeader header = read_metis_header(lines);
    header.any_weight = options.ignore_weights;
    EdgeSink edges;
    edges.weighted = header.weighted;
    std::uint64_t line = lines.line();
    std::int64_t row = 0;
    bool inside = false;  // a line goes on in the next piece
    bool comment = false;
    bool ends_line = true;
    VertexLine at;
    for (std::string_view piece; lines.next_piece(piece, ends_line);) {
        edges.ensure(piece.size() / (header.weighted ? 4 : 2) + 2, input.limits, input.name);
        const char* const end = piece.data() + piece.size();
        for (const char* p = piece.data(); p != end; ++p) {
            const char* const text = skip_blanks(p);
            if (!inside) {
                ++line;
                comment = *text == '%';
                at = {};
            }
            // Whether the line that starts or goes on here is cut off by the end of the piece.
            inside = !ends_line && skip_line(p, end) == end;
            if (comment) {
                p = skip_line(p, end) - 1;
            } else if (row < header.n) {
                p = read_neighbours(p, end, row, at, inside, header, edges, input.name, line);
                row += !inside;
            } else if (*text == '\n') {
                p = text;  // blank lines at the end
            } else {
                fail_line(input.name, line, "is a line more than the {} vertices of the header", header.n);
            }
        }
        require_counts(0, 0, static_cast<std::int64_t>(edges.size), input.name);
    }
    // Editors strip blank lines at the end, so vertices without neighbours may be missing there; edges may not. Some
    // headers count both ends of every edge.
    const auto entries = static_cast<std::int64_t>(edges.size);
    if (entries != 2 * header.m && !(entries == header.m && row == header.n)) {
        fail(input.name,
             "holds {} neighbours in {} lines, but the header promises {} edges, so {} neighbours; the file is "
             "cut short or its header is wrong",
             entries, row, header.m, 2 * header.m);
    }
    RawGraph raw;
    edges.loss.tell(raw.fix_ups);
    raw.format = "metis";
    raw.data_bytes = lines.bytes();
    raw.graph = to_csr(std::move(edges), header.n, header.n, raw.data_bytes, input);
    require_symmetric(raw.graph, input.name);
    return raw;
}

}  // namespace gnntune::io::detail
