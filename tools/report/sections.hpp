// What a page says, section by section: each asks a question, answers it in words and shows the figures behind it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/report/data.hpp"
#include "tools/report/figure.hpp"

namespace gnntune::tools::report {

/// A table that stands for itself.
struct NamedSheet {
    std::string title;
    Sheet sheet;
};

/// What belongs together in a section: a setting, a graph.
struct Group {
    std::string heading;  ///< empty: none
    std::string graph;    ///< whose name a filter looks at; empty: none in particular
    std::vector<std::pair<std::string, std::string>> facts;
    std::vector<Figure> figures;
    std::vector<NamedSheet> sheets;
};

struct Section {
    Part part = Part::won;
    std::string id;    ///< anchor
    std::string name;  ///< a word
    std::string question;
    std::string answer;                ///< a sentence or two; empty where nothing is known; text between ` is code
    std::vector<std::string> missing;  ///< why there is nothing, and what fills it; text between ` is code
    Sheet overview;                    ///< shown above the groups if it has rows
    std::vector<Group> groups;         ///< all but the first are folded
};

/// Graphs that a page shows one by one, and their problems; of more the graphs with most edges.
inline constexpr std::size_t kMostGraphs = 30;
inline constexpr std::size_t kMostCases = 300;

/// In the order of Part.
std::vector<Section> sections_of(const Report& report);

/// Headline numbers, value and words: "1.92×", "as fast as the library as it comes, geometric mean".
std::vector<std::pair<std::string, std::string>> headlines_of(const Report& report);

}  // namespace gnntune::tools::report
