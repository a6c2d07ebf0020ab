// Tables and figures of whole models: what they ask of the rows that python/bench/models.py wrote, and their filling.
//
// data/papers.json has them under `whole` of a paper:
//
//   item     kind, number, alias, title, source, says, ours, rows, columns, and optionally
//            quotes [{graph, model, figures}]    the paper's; without a model, of every row of the graph
//            geomean: columns                    with a geometric mean below the rows
//   rows     part: names; what: word that a row of the table has among its values; model: of these only; and: [words by name], a row for each
//            of them, headed by `title`; its words stand in a column's texts as {name}, the first is its name in the table
//   column   key, title, unit, digits, in_text, and one of
//            paper: true                         quoted
//            of_graph: n or m
//            take: least, mean, sd, count, first, low or high, with part, side, form, way, what (words or lists of
//                                                them; `@key` is the text of a column before; without part: the rows')
//            smallest: ways, with the same; under: the first of these ways whose value is less
//            ratio: {of: column, over: columns, whose sum it is, scale}
//            less: {of: column, less: column}
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/common/table.hpp"

namespace gnntune::tools::paper {

struct WholeColumn {
    enum class Kind { paper, of_graph, take, smallest, ratio, less };
    tools::Column shown;
    Kind kind = Kind::paper;
    std::string word;                                         ///< of_graph, take: which
    std::map<std::string, std::vector<std::string>> filters;  ///< take, smallest: by column of the file
    std::vector<std::string> ways;                            ///< smallest
    double under = 0;                                         ///< smallest
    std::string of;                                           ///< ratio, less
    std::vector<std::string> over;                            ///< ratio, less
    double scale = 1;                                         ///< ratio
};

struct WholeItem {
    struct Quote {
        std::string graph;
        std::string model;
        std::map<std::string, Cell> figures;
    };
    using Words = std::vector<std::pair<std::string, std::string>>;

    bool is_table = false;
    std::string number, alias, title, source, says, ours;
    std::vector<std::string> part;
    std::string what;
    std::vector<std::string> models;  ///< empty: all
    std::string and_title;
    std::vector<Words> each;  ///< at least one, which may be empty
    std::vector<WholeColumn> columns;
    std::vector<Quote> quotes;
    std::vector<std::string> geomean;

    std::string name() const { return (is_table ? "table " : "figure ") + number; }
};

/// Throws ErrorKind::input in words for what is not as above.
WholeItem parse_whole(const Json& json, const std::string& paper);

/// The file's rows: a text for each of its columns, by name. A way that is the same for every sum stands there once.
using ModelRow = std::map<std::string, std::string>;
/// Throws ErrorKind::input in words unless `text` is CSV with the columns that are asked for. `name` is the file's.
std::vector<ModelRow> parse_model_rows(std::string_view text, const std::string& name);

struct WholeSheet {
    std::vector<tools::Column> columns;
    std::vector<std::vector<Cell>> rows;
    /// What the rows of the table were measured with, each once: device, torch, PyG, date and commit.
    std::vector<std::string> measured;
};

/// A row for each graph and model of the item's parts, in the order of edges; those of which nothing is known are left out.
WholeSheet fill_whole(const WholeItem& item, const std::vector<ModelRow>& rows);

}  // namespace gnntune::tools::paper
