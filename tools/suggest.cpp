#include "tools/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace gnntune::tools {
namespace {

/// Levenshtein distance: insertions, deletions and replacements.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
        }
    }
    return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    std::optional<std::string> best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t d = distance(word, candidate);
        // An abbreviation is as good as a small mistake.
        const bool is_start = word.size() >= 2 && std::string_view(candidate).starts_with(word);
        const std::size_t effective = is_start ? std::min<std::size_t>(d, 1) : d;
        if (effective < best_distance) {
            best_distance = effective;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const auto near = nearest(word, known);
    return near ? "; did you mean " + *near + "?" : std::string();
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words) {
        if (!text.empty()) text += separator;
        text += word;
    }
    return text;
}

}  // namespace gnntune::tools
