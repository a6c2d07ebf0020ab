#include "core/io/detail/edge_text.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/io/detail/column_names.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/numbers.hpp"

namespace gnntune::io::detail {
namespace {

const char* skip_separator(const char* p) {
    p = skip_blanks(p);
    return *p == ',' ? skip_blanks(p + 1) : p;
}

bool ends_id(char c) {
    return is_blank(c) || c == ',' || c == '\n';
}

std::string_view line_at(const char* p, const char* end) {
    return {p, static_cast<std::size_t>(skip_line(p, end) - p)};
}

/// The whole number behind a word; none where more than that stands there, as in `1,000` or `1e6`.
std::optional<std::int64_t> count_behind(std::string_view line, std::string_view word) {
    const auto found = line.find(word);
    std::uint64_t n = 0;
    if (found == line.npos) return std::nullopt;
    const char* const behind = parse_id(skip_blanks(line.data() + found + word.size()), n);
    if (!behind) return std::nullopt;
    const bool ends = is_blank(*behind) || *behind == '\n' || *behind == ';' ||
                      ((*behind == ',' || *behind == '.') && (is_blank(behind[1]) || behind[1] == '\n'));
    return ends ? std::optional(static_cast<std::int64_t>(n)) : std::nullopt;
}

/// A first line of column names: words that start with a letter or a quote, with the separators of the list. A comma in
/// front is that of a column without a name.
bool is_header(const char* p, const char* end) {
    const bool word = std::isalpha(static_cast<unsigned char>(*p)) || *p == '"' || *p == '_' ||
                      (*p == ',' && std::isalpha(static_cast<unsigned char>(*skip_separator(p))));
    return word && std::any_of(p, skip_line(p, end), [](char c) { return c == ',' || c == '\t' || c == ' '; });
}

/// What stands above the edges.
template <typename Id>
class Heading {
public:
    Heading(EdgeText<Id>& out, const std::string& name) : out_(out), name_(name) {}

    /// SNAP writes `# Nodes: 7115 Edges: 103689` above its lists, and so does write_graph.
    void comment(std::string_view line, std::uint64_t number) {
        if (line.front() == '#' && !out_.vertices) {
            out_.vertices = count_behind(line, "Nodes:");
            if (out_.vertices) out_.edges = count_behind(line, "Edges:");
        }
        if (out_.header_lines > 0) return;
        const ColumnNames names = column_names_of_comment(line);
        if (names.count > 0) take(names, number);
    }
    void header(std::string_view line, std::uint64_t number) {
        out_.header_lines = 1;
        names_ = {};
        take(column_names(line), number);
    }
    bool swapped() const { return names_.swapped; }
    /// Checks the names against the first edge.
    void require(int columns, bool more_may_follow, std::uint64_t number) const {
        const auto here = static_cast<std::size_t>(columns);
        const bool fits = more_may_follow ? (names_.count == 2) == (here == 2) : names_.count == here;
        if (names_.count == 0 || fits) return;
        fail_line(name_, number, "has {} columns, but line {} names {}", here, line_, names_.count);
    }

private:
    void take(const ColumnNames& names, std::uint64_t number) {
        if (!names.fault.empty()) fail_line(name_, number, "{}", names.fault);
        names_ = names;
        line_ = number;
        out_.remark = names.remark;
    }

    EdgeText<Id>& out_;
    const std::string& name_;
    ColumnNames names_;
    std::uint64_t line_ = 0;
};

}  // namespace

template <typename Id>
EdgeText<Id> parse_edge_text(LineReader& lines, const Limits& limits, std::int64_t base, ThirdColumn third) {
    EdgeText<Id> out;
    const std::string& name = lines.name();
    std::uint64_t line = lines.line();
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t largest = 0;
    std::uint64_t last_u = 0;
    std::uint64_t last_v = 0;
    std::size_t m = 0;
    int columns = 0;  // 0 until the first edge
    Heading<Id> heading(out, name);
    for (std::string_view block; lines.next_block(block) && !out.too_narrow;) {
        const std::size_t room = m + block.size() / 4 + 1;  // "1 1\n"
        if (room > out.source.size()) {
            const std::size_t grown = std::max(room, out.source.size() + out.source.size() / 2);
            limits.require(grown * (2 * sizeof(Id) + 4), name, "the edges");
            out.source.resize(grown);
            out.target.resize(grown);
            if (columns != 2) out.weights.resize(grown);
        }
        const char* p = block.data();
        const char* const end = p + block.size();
        while (p != end) {
            ++line;
            p = skip_blanks(p);
            const char* const start = p;
            if (*p == '\n' || *p == '#' || *p == '%') {
                if (*p != '\n' && m == 0) heading.comment(line_at(p, end), line);
                p = skip_line(p, end);
                continue;
            }
            std::uint64_t u;
            std::uint64_t v = 0;
            p = parse_id(p, u);
            if (!p && m == 0 && out.header_lines == 0 && is_header(start, end)) {
                heading.header(line_at(start, end), line);
                p = skip_line(start, end);
                continue;
            }
            const bool pair = p && ends_id(*p) && (p = parse_id(skip_separator(p), v)) && ends_id(*p);
            if (!pair) {
                fail_line(name, line, "expected two vertex ids (whole numbers from {}) and at most a weight, found {}",
                          base, quoted(start));
            }
            p = skip_separator(p);
            int here = 2;
            float weight = 0;
            if (*p != '\n') {
                here = 3;
                const char* const behind = parse_weight(p, end, weight);
                if (third == ThirdColumn::ignored) {
                    if (!behind) weight = 0;
                    p = skip_line(p, end) - 1;
                } else {
                    if (!behind) {
                        fail_line(name, line, "{}", why_no_weight("weight", "as third column", p, end, quoted(p)));
                    }
                    out.loss.count(p, behind, weight);
                    p = skip_blanks(behind);
                    if (*p != '\n') fail_line(name, line, "expected two or three columns, found {}", quoted(start));
                    if (third == ThirdColumn::refused) {
                        fail_line(name, line, "expected two columns, found {}", quoted(start));
                    }
                }
            }
            if (here != columns) {
                if (columns != 0) {
                    fail_line(name, line,
                              "has {} columns, but the lines before have {}; expected as many on every line", here,
                              columns);
                }
                columns = here;
                heading.require(columns, third == ThirdColumn::ignored, line);
                if (columns == 2) out.weights = {};
            }
            ++p;
            if (heading.swapped()) std::swap(u, v);
            const std::uint64_t low = std::min(u, v);
            const std::uint64_t high = std::max(u, v);
            if (low < static_cast<std::uint64_t>(base)) {
                fail_line(name, line, "id {} is below {}; if ids start at 0 here, give --base 0", low, base);
            }
            if (high > static_cast<std::uint64_t>(std::numeric_limits<Id>::max())) {
                out.too_narrow = true;
                out.largest = static_cast<std::int64_t>(high);
                out.line = line;
                return out;
            }
            smallest = std::min(smallest, low);
            largest = std::max(largest, high);
            out.sorted &= v > last_v || (v == last_v && u >= last_u);
            last_u = u;
            last_v = v;
            out.source[m] = static_cast<Id>(u);
            out.target[m] = static_cast<Id>(v);
            if (columns == 3) out.weights[m] = weight;
            ++m;
        }
        require_counts(0, 0, static_cast<std::int64_t>(m), name);
    }
    out.source.resize(m);
    out.target.resize(m);
    out.weights.resize(columns == 3 ? m : 0);
    if (m > 0) {
        out.smallest = static_cast<std::int64_t>(smallest);
        out.largest = static_cast<std::int64_t>(largest);
    }
    return out;
}

template EdgeText<std::int32_t> parse_edge_text(LineReader&, const Limits&, std::int64_t, ThirdColumn);
template EdgeText<std::int64_t> parse_edge_text(LineReader&, const Limits&, std::int64_t, ThirdColumn);

}  // namespace gnntune::io::detail
