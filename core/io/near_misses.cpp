// Texts that nearly are a graph of some format. Read as an edge list they would give another graph without a word, so
// they are errors that say what was expected.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "core/io/detail/edge_text.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::string_view kBannerWord = "matrixmarket";

/// Number of letters to insert, drop or change.
std::size_t letters_apart(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row[b.size()];
}

bool has_any(std::string_view line, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [line](auto word) { return line.find(word) != line.npos; });
}

/// "%MatrixMarket matrix ...", "## Matrix-Markt matrix ...", "%% matrix coordinate real general". `line` is in lower case.
bool is_nearly_banner(std::string_view line) {
    if (has_any(line, {"coordinate"}) && has_any(line, {"general", "symmetric", "hermitian"})) return true;
    std::string letters;  // of the first words, without what stands before and between them
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; at < line.size() && letters.size() < kBannerWord.size() + 2; ++at) {
        if (std::isalpha(static_cast<unsigned char>(line[at]))) {
            letters += line[at];
            ends.push_back(at + 1);
        } else if (!letters.empty() && line[at] != ' ' && line[at] != '-' && line[at] != '_') {
            break;
        }
    }
    for (std::size_t n = kBannerWord.size() - 2; n <= letters.size(); ++n) {
        if (letters_apart(std::string_view(letters).substr(0, n), kBannerWord) > 2) continue;
        // A sentence about Matrix Market is none of its banners.
        if (has_any(line.substr(ends[n - 1]), {"matrix", "vector", "coordinate", "array"})) return true;
    }
    return false;
}

}  // namespace

std::string nearly_banner(std::string_view head) {
    constexpr std::size_t kLinesLookedAt = 100;
    std::size_t number = 0;
    for (std::size_t at = 0; at < head.size() && number < kLinesLookedAt;) {
        const std::size_t end = std::min(head.find('\n', at), head.size());
        const std::string_view line = head.substr(at, end - at);
        at = end + 1;
        ++number;
        const std::size_t start = line.find_first_not_of(" \t\r");
        if (start == std::string_view::npos) continue;
        if (number > 1 && line[start] != '%' && line[start] != '#') return {};
        std::string low(line);
        std::transform(low.begin(), low.end(), low.begin(),
                       [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
        if (!is_nearly_banner(low)) continue;
        if (low.substr(start).starts_with("%%matrixmarket ")) {
            return fmt::format(
                "line {} is the banner of a Matrix Market file, expected on line 1; remove what stands above it",
                number);
        }
        return fmt::format(
            "line {} is nearly the banner of a Matrix Market file: expected '%%MatrixMarket matrix coordinate ...', "
            "found "
            "'{}'; correct it, or say with --from what the file is",
            number, printable(line.substr(start), 48));
    }
    return {};
}

template <typename Id>
void refuse_other_formats(const EdgeText<Id>& text, const std::string& name) {
    const std::size_t m = text.source.size();
    if (m < 3 || text.too_narrow || text.vertices || text.header_lines > 0) return;
    const bool weighted = !text.weights.empty();
    const auto behind = static_cast<std::int64_t>(m - 1);
    const auto u = static_cast<std::int64_t>(text.source[0]);
    const auto v = static_cast<std::int64_t>(text.target[0]);
    // Whether the ids behind the first line are at most these.
    const auto within = [&](std::int64_t least, std::int64_t source, std::int64_t target) {
        for (std::size_t e = 1; e < m; ++e) {
            if (text.source[e] > source || text.target[e] > target || text.source[e] < least || text.target[e] < least)
                return false;
        }
        return true;
    };
    if (!weighted && (v == behind || (u == behind && v == 2 * behind)) && within(0, u, u)) {
        fail(
            name,
            "its first line, '{} {}', counts the vertices and the edges of the others; if this is METIS, give --from "
            "metis or end the name in .graph; if it is an edge list, remove that line, or give --from edges if that is "
            "an edge too",
            u, v);
    }
    if (!weighted) return;
    const bool counts_lines = text.weights[0] == static_cast<float>(behind);
    // Ids from 0 are below the number of vertices. As an edge it would be a self loop of a vertex that no other names.
    if (counts_lines && u == v && u > 0 && within(0, u - 1, v - 1)) {
        fail(name,
             "its first line, '{} {} {}', counts the vertices and the edges of the others; remove that line, or give "
             "--from edges if that is an edge too",
             u, v, behind);
    }
    if (counts_lines && within(1, u, v)) {
        fail(name,
             "its first line, '{} {} {}', is the size line of a Matrix Market file that has lost its banner; put "
             "'%%MatrixMarket matrix coordinate real general' above it, or give --from edges if that is an edge too",
             u, v, behind);
    }
    // "1 2 3": vertex 1 has the neighbours 2 and 3. Then each vertex has one line, and all numbers are vertices.
    const std::string plain = plain_name(name);
    for (const std::string_view suffix : {".wel", ".el", ".edges", ".edgelist", ".csv", ".tsv"}) {
        if (plain.ends_with(suffix)) return;
    }
    if (u > 1) return;
    for (std::size_t e = 0; e < m; ++e) {
        const auto source = static_cast<std::int64_t>(text.source[e]);
        const float other = text.weights[e];
        if (source != u + static_cast<std::int64_t>(e) || other != std::floor(other) || other < static_cast<float>(u) ||
            other > static_cast<float>(u + behind) || other == static_cast<float>(text.target[e]) ||
            other == static_cast<float>(source)) {
            return;
        }
    }
    fail(name,
         "its lines may be an adjacency list of three columns as well as edges with a weight; write one edge on a "
         "line, or "
         "give --from edges if the third column is a weight");
}

template void refuse_other_formats(const EdgeText<std::int32_t>&, const std::string&);
template void refuse_other_formats(const EdgeText<std::int64_t>&, const std::string&);

}  // namespace gnntune::io::detail
