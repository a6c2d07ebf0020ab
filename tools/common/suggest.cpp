#include "tools/common/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace gnntune::tools {
namespace {

/// Edit distance: insertions, deletions, replacements and swaps of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> two_above(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        two_above.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({row[j - 1] + 1, above[j] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
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
