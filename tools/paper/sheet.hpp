// Fills a table or figure: a row for each graph, the paper's figures beside what the database and the graphs say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/paper/evidence.hpp"

namespace gnntune::tools::paper {

struct Sheet {
    std::vector<tools::Column> columns;
    std::vector<std::vector<Cell>> rows;  ///< a cell with nothing: not measured, or not in the paper's text
    std::vector<std::string> commands;    ///< that would fill what is missing, without repetition
    std::vector<std::string> notes;       ///< sentences about single cells
    std::optional<Source> source;         ///< of the times; nothing if there is none
};

struct SheetOptions {
    std::string db;  ///< " --db FILE" is added to commands; empty: the user's database
    Device device;   ///< whose limits the default configs of modelled columns obey
};

/// Times of one sheet come from one environment and clock: those that fill most cells.
Sheet fill(const Paper& paper, const Item& item, Evidence& evidence, const SheetOptions& options);

}  // namespace gnntune::tools::paper
