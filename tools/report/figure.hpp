// A figure with everything that goes with it: the picture, what it shows in words, where its numbers are from, and the
// numbers themselves.
#pragma once

#include <string>
#include <vector>

#include "tools/common/table.hpp"

namespace gnntune::tools::report {

/// The numbers behind a figure. Cells of a column are all texts or all numbers.
struct Sheet {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
};

struct Figure {
    std::string id;     ///< letters, digits and dashes: an anchor and the name of a file
    std::string title;  ///< what is drawn, one line
    std::string alt;    ///< what one sees, in a sentence or two
    std::string note;   ///< n, device and clock, and how to read it
    std::string svg;    ///< the inside of the picture; empty: nothing to draw, `alt` says why
    double width = 0;
    double height = 0;
    Sheet table;
};

/// The file of its own, with its title and its note: SVG that needs nothing beside it.
std::string svg_file(const Figure& figure);

}  // namespace gnntune::tools::report
