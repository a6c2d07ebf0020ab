// Matrix Market, coordinate: banner, comments, a size line `rows columns entries`, then one entry per line, 1-based.
#include <algorithm>
#include <array>
#include <cctype>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/lines.hpp"
#include "core/io/detail/numbers.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io::detail {
namespace {

struct MtxHeader {
    bool pattern = false;
    bool integer = false;
    bool symmetric = false;
    bool skew = false;
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;  ///< entries in the file
};

std::string next_word(const char*& p) {
    p = skip_blanks(p);
    std::string word;
    while (!is_blank(*p) && *p != '\n') word += static_cast<char>(std::tolower(static_cast<unsigned char>(*p++)));
    return word;
}

void read_banner(LineReader& lines, bool any_value, MtxHeader& header) {
    std::string_view line;
    const char* p = nullptr;
    do {
        if (!lines.next_line(line)) fail(lines.name(), "is empty; expected a Matrix Market file");
        if (lines.line() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
        p = skip_blanks(line.data());
    } while (*p == '\n');
    const auto& name = lines.name();
    const std::uint64_t number = lines.line();
    if (next_word(p) != "%%matrixmarket") {
        fail_line(name, number, "expected the banner '%%MatrixMarket matrix coordinate ...', found {}",
                  quoted(line.data()));
    }
    const std::string object = next_word(p);
    const std::string layout = next_word(p);
    const std::string field = next_word(p);
    const std::string symmetry = next_word(p);
    if (object != "matrix" || layout != "coordinate") {
        fail_line(name, number,
                  "'{} {}' is not supported; a graph is a 'matrix coordinate' file, so write it as a sparse matrix",
                  printable(object), printable(layout));
    }
    header.pattern = field == "pattern";
    header.integer = !any_value && (field == "integer" || field == "unsigned-integer");
    if (field != "pattern" && field != "real" && field != "double" && field != "integer" &&
        field != "unsigned-integer" && !(any_value && field == "complex")) {
        fail_line(name, number,
                  "values of kind '{}' are not supported; expected pattern, real or integer, or --ignore-weights",
                  printable(field));
    }
    header.skew = symmetry == "skew-symmetric";
    header.symmetric = header.skew || symmetry == "symmetric" || (any_value && symmetry == "hermitian");
    if (!header.symmetric && symmetry != "general") {
        fail_line(name, number, "symmetry '{}' is not supported; expected general, symmetric or skew-symmetric",
                  printable(symmetry));
    }
    if (header.skew && header.pattern) {
        fail_line(name, number, "a pattern cannot be skew-symmetric, as it has no signs; expected real or integer");
    }
}

void read_sizes(LineReader& lines, MtxHeader& header) {
    std::string_view line;
    const char* p = nullptr;
    do {
        if (!lines.next_line(line)) {
            fail(lines.name(), "ends after line {} without its size line 'rows columns entries'; it is cut short",
                 lines.line());
        }
        p = skip_blanks(line.data());
    } while (*p == '%' || *p == '\n');
    std::array<std::uint64_t, 3> sizes{};
    for (auto& size : sizes) {
        const char* next = parse_id(skip_blanks(p), size);
        if (!next || !(is_blank(*next) || *next == '\n')) {
            fail_line(lines.name(), lines.line(), "expected the size line 'rows columns entries', found {}",
                      quoted(line.data()));
        }
        p = next;
    }
    if (*skip_blanks(p) != '\n') {
        fail_line(lines.name(), lines.line(), "expected nothing behind 'rows columns entries', found {}", quoted(p));
    }
    header.n_rows = static_cast<std::int64_t>(sizes[0]);
    header.n_cols = static_cast<std::int64_t>(sizes[1]);
    header.m = static_cast<std::int64_t>(sizes[2]);
    require_counts(header.n_rows, header.n_cols, header.m, lines.name());
    if (header.symmetric && header.n_rows != header.n_cols) {
        fail_line(lines.name(), lines.line(), "a symmetric matrix must be square, not {} x {}", header.n_rows,
                  header.n_cols);
    }
}

/// Why the entry that starts at `p` is none. The fast loop only knows that something is wrong.
[[noreturn]] void fail_entry(const std::string& name, std::uint64_t line, const char* p, const char* end,
                             const MtxHeader& header) {
    const char* const start = p;
    const auto found = quoted(start);
    std::array<std::uint64_t, 2> ids{};
    for (std::size_t k = 0; k < 2; ++k) {
        p = skip_blanks(p);
        const bool negative = *p == '-';
        p = parse_id(p + negative, ids[k]);
        if (!p || !(is_blank(*p) || *p == '\n')) {
            fail_line(name, line, "expected {}, found {}", header.pattern ? "'row column'" : "'row column value'",
                      found);
        }
        const std::int64_t bound = k == 0 ? header.n_rows : header.n_cols;
        if (negative || ids[k] < 1 || ids[k] > static_cast<std::uint64_t>(bound)) {
            fail_line(name, line, "{} {}{} is outside 1..{}; the size line promises a {} x {} matrix",
                      k == 0 ? "row" : "column", negative ? "-" : "", ids[k], bound, header.n_rows, header.n_cols);
        }
    }
    if (header.skew && ids[0] == ids[1]) {
        fail_line(name, line, "a skew-symmetric matrix has no diagonal, found {}", found);
    }
    float weight = 0;
    if (!header.pattern) {
        p = skip_blanks(p);
        const char* const behind = parse_weight(p, end, weight);
        if (!behind) {
            fail_line(name, line, "{}", why_no_weight("value", "behind 'row column'", p, end, quoted(p)));
        }
        if (header.integer && !is_whole(p, behind)) {
            fail_line(name, line,
                      "expected a whole number behind 'row column', as the banner says integer, found {}; write real "
                      "into the banner, or give --ignore-weights",
                      quoted(p));
        }
    }
    fail_line(name, line, "expected {} and nothing behind, found {}",
              header.pattern ? "'row column' of a pattern" : "'row column value'", found);
}

/// The hot loop: 15 bytes per edge, both ids straight into the arrays.
template <bool kPattern>
void read_entries(LineReader& lines, const MtxHeader& header, bool any_value, EdgeSink& out, const Limits& limits) {
    constexpr std::size_t kFewestBytes = kPattern ? 4 : 6;  // "1 1\n", "1 1 1\n"
    const auto promised = static_cast<std::size_t>(header.m);
    const auto n_rows = static_cast<std::uint64_t>(header.n_rows);
    const auto n_cols = static_cast<std::uint64_t>(header.n_cols);
    std::uint64_t line = lines.line();
    std::uint64_t last_key = 0;
    bool sorted = true;
    for (std::string_view block; lines.next_block(block);) {
        out.ensure(std::min(block.size() / kFewestBytes + 1, promised - out.size), limits, lines.name());
        std::int32_t* const rows = out.rows.data();
        std::int32_t* const cols = out.cols.data();
        float* const weights = out.weights.data();
        std::size_t m = out.size;
        const char* p = block.data();
        const char* const end = p + block.size();
        while (p != end) {
            ++line;
            const char* const start = p;
            p = skip_blanks(p);
            if (*p == '\n' || *p == '%') {
                p = skip_line(p, end);
                continue;
            }
            if (m == promised) {
                fail_line(lines.name(), line, "entry {} is one more than the {} that the size line promises", m + 1,
                          promised);
            }
            std::uint64_t i;
            std::uint64_t j;
            if (!(p = parse_id(p, i)) || !is_blank(*p)) fail_entry(lines.name(), line, start, end, header);
            if (!(p = parse_id(skip_blanks(p), j))) fail_entry(lines.name(), line, start, end, header);
            if (i - 1 >= n_rows || j - 1 >= n_cols) fail_entry(lines.name(), line, start, end, header);
            if constexpr (!kPattern) {
                const char* const value = skip_blanks(p);
                const char* const behind = value != p ? parse_weight(value, end, weights[m]) : nullptr;
                if (any_value && (is_blank(*p) || *p == '\n')) {
                    if (!behind) weights[m] = 0;
                    p = skip_line(p, end) - 1;
                } else if (!behind) {
                    fail_entry(lines.name(), line, start, end, header);
                } else {
                    if (header.integer && !is_whole(value, behind)) fail_entry(lines.name(), line, start, end, header);
                    out.loss.count(value, behind, weights[m]);
                    p = behind;
                }
                if (header.skew && i == j) fail_entry(lines.name(), line, start, end, header);
            }
            p = skip_blanks(p);
            if (*p != '\n') fail_entry(lines.name(), line, start, end, header);
            ++p;
            rows[m] = static_cast<std::int32_t>(i - 1);
            cols[m] = static_cast<std::int32_t>(j - 1);
            const std::uint64_t key = i << 32 | j;
            sorted &= key >= last_key;
            last_key = key;
            ++m;
        }
        out.size = m;
    }
    out.sorted = sorted;
    if (out.size < promised) {
        fail(lines.name(), "ends at line {} after {} entries, but the size line promises {}; the file is cut short",
             line, out.size, promised);
    }
}

/// How many pairs of vertices have entries on both sides of the diagonal.
std::size_t pairs_given_twice(const EdgeSink& edges, const Limits& limits, const std::string& name) {
    std::size_t above = 0;
    std::size_t below = 0;
    for (std::size_t e = 0; e < edges.size; ++e) {
        above += edges.cols[e] > edges.rows[e];
        below += edges.cols[e] < edges.rows[e];
    }
    if (above == 0 || below == 0) return 0;
    limits.require((above + below) * sizeof(std::uint64_t), name, "the triangles");
    const auto triangle = [&](bool upper) {
        HostVector<std::uint64_t> keys;
        keys.reserve(upper ? above : below);
        for (std::size_t e = 0; e < edges.size; ++e) {
            const auto row = static_cast<std::uint64_t>(edges.rows[e]);
            const auto col = static_cast<std::uint64_t>(edges.cols[e]);
            if (row != col && (col > row) == upper) keys.push_back(std::min(row, col) << 32 | std::max(row, col));
        }
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        return keys;
    };
    const auto upper = triangle(true);
    const auto lower = triangle(false);
    std::size_t twice = 0;
    for (auto u = upper.begin(), l = lower.begin(); u != upper.end() && l != lower.end();) {
        twice += *u == *l;
        const bool next_upper = *u <= *l;
        const bool next_lower = *l <= *u;
        u += next_upper;
        l += next_lower;
    }
    return twice;
}

/// Throws where both triangles of a symmetric matrix are written: mirrored, each of their edges would be there twice.
void require_one_triangle(const EdgeSink& edges, const MtxHeader& header, const Limits& limits,
                          const std::string& name) {
    const std::size_t twice = pairs_given_twice(edges, limits, name);
    if (twice == 0) return;
    fail(name,
         "has {} pair{} of vertices on both sides of the diagonal, but its banner says {}, of which one triangle is "
         "written; write general into the banner where all entries are listed, or give --merge-duplicates, which makes "
         "two entries one (weights add up)",
         twice, twice == 1 ? "" : "s", header.skew ? "skew-symmetric" : "symmetric");
}

/// Adds (j, i) for each (i, j) off the diagonal; returns how many.
std::int64_t mirror(EdgeSink& edges, bool skew, const Limits& limits, const std::string& name) {
    const std::size_t m = edges.size;
    std::size_t off = 0;
    for (std::size_t e = 0; e < m; ++e) off += edges.rows[e] != edges.cols[e];
    require_counts(0, 0, static_cast<std::int64_t>(m + off), name);
    edges.ensure(off, limits, name);
    for (std::size_t e = 0; e < m; ++e) {
        if (edges.rows[e] == edges.cols[e]) continue;
        edges.rows[edges.size] = edges.cols[e];
        edges.cols[edges.size] = edges.rows[e];
        if (edges.weighted) edges.weights[edges.size] = skew ? -edges.weights[e] : edges.weights[e];
        ++edges.size;
    }
    edges.sorted = edges.sorted && off == 0;
    return static_cast<std::int64_t>(off);
}

}  // namespace

RawGraph read_mtx(const Input& input, const ReadOptions& options) {
    LineReader lines(open_stream(input.bytes, input.name), input.name, input.limits);
    MtxHeader header;
    read_banner(lines, options.ignore_weights, header);
    read_sizes(lines, header);
    EdgeSink edges;
    edges.weighted = !header.pattern;
    if (compression_of(input.bytes) == Compression::none) {
        // A plain file backs at most one entry per four bytes: then no growing, and no claim beyond the file.
        edges.ensure(static_cast<std::size_t>(std::min(static_cast<std::uint64_t>(header.m), input.bytes.size() / 4)),
                     input.limits, input.name);
    }
    header.pattern ? read_entries<true>(lines, header, false, edges, input.limits)
                   : read_entries<false>(lines, header, options.ignore_weights, edges, input.limits);
    RawGraph raw;
    edges.loss.tell(raw.fix_ups);
    raw.format = "mtx";
    raw.data_bytes = lines.bytes();
    if (header.symmetric) {
        if (!options.merge_duplicates) require_one_triangle(edges, header, input.limits, input.name);
        raw.fix_ups.mirrored_entries = mirror(edges, header.skew, input.limits, input.name);
    }
    raw.graph = to_csr(std::move(edges), header.n_rows, header.n_cols, raw.data_bytes, input);
    return raw;
}

}  // namespace gnntune::io::detail
