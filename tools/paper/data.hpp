// What data/papers.json says: the tables and figures of the papers, the paper's own figures in them, and for each
// column of ours the question to the database or to the graph that answers it.
//
//   paper    id, title, venue, device (the paper's), graphs: key -> {paper: its name there, name: ours, file: to type},
//            items, and whole: those of whole models (whole.hpp)
//   item     kind (table or figure), number, alias, title, source, says (the paper), ours, columns, rows, and
//   optionally
//            sums (model -> name -> terms), model_title, average {of: columns, paper: figures}
//   row      graph, and optionally model, k or widths, paper (figures by column)
//   column   key, title, unit, digits, in_text, and one of
//              paper: true                         quoted
//              time: terms or the name of a sum    in us or ms, as the unit says
//              gflops: terms                       2 m k of each term over the time of all
//              graph: word, S                      a feature of the graph (facts.hpp)
//              counted: word, terms                a counter of the fastest config that has counters, MiB: dram_read,
//                                                  dram_write, l2_read, l2_write, l2_atomic (all kinds)
//              modelled: word, terms, unless       cost terms of the variant's default config, MiB; empty where the
//                                                  column `unless` has a figure
//              ratio: {of: columns, over: columns, scale}
//              least: columns                      the smallest, if all are there
//              argleast: {word: column}            the word of the smallest of those that are there
//   term     {op, k, heads, reduce, weighted, direction, self_loop, variant, params, times, first_width, prepare} or
//            {build, base, direction, times}; without k, one for each width of the row
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/registry/op.hpp"
#include "tools/common/table.hpp"
#include "tools/paper/whole.hpp"

namespace gnntune::tools::paper {

/// One thing that takes time: an op by the fastest config that fits, or building a format.
struct Term {
    Problem problem;                                          ///< k is 0 where the row's widths stand for it
    std::vector<std::string> variants;                        ///< any of these; empty: every exact one
    std::vector<std::pair<std::string, std::string>> params;  ///< that the config must have
    double times = 1;
    bool first_width = false;  ///< the first of the row's widths only
    bool prepare = false;      ///< the config's preparation instead of its time
    std::string build;         ///< not empty: a format, from `base`, in problem.direction
    std::string base;
};

struct Column {
    enum class Kind { paper, time, gflops, graph, counted, modelled, ratio, least, argleast };
    tools::Column shown;
    Kind kind = Kind::paper;
    std::vector<Term> terms;
    std::string sum;                 ///< time: a name in the item's sums, instead of terms
    std::string word;                ///< graph, counted, modelled
    std::int64_t width = 0;          ///< graph: S
    std::vector<std::string> of;     ///< ratio, least, argleast; modelled: `unless`
    std::vector<std::string> over;   ///< ratio
    std::vector<std::string> names;  ///< argleast, one for each of `of`
    double scale = 1;                ///< ratio
};

struct Row {
    std::string graph;  ///< key in Paper::graphs
    std::string model;
    std::vector<std::int32_t> widths;
    std::map<std::string, Cell> paper;
};

struct Item {
    bool is_table = false;  ///< else a figure
    std::string number;
    std::string alias;  ///< the number in arabic digits, where the paper writes roman ones
    std::string title;
    std::string source;
    std::string says;
    std::string ours;
    std::string model_title;  ///< heads the column of Row::model
    std::map<std::string, std::map<std::string, std::vector<Term>>> sums;
    std::vector<Column> columns;
    std::vector<Row> rows;
    std::vector<std::string> average_of;  ///< columns with a mean below the rows
    std::map<std::string, Cell> average_paper;

    std::string name() const { return (is_table ? "table " : "figure ") + number; }
};

struct GraphName {
    std::string paper;  ///< what the paper calls it
    std::string name;   ///< what the database calls it
    std::string file;   ///< what to give to gnntune tune
};

struct Paper {
    std::string id;
    std::string title;
    std::string venue;
    std::string device;
    std::map<std::string, GraphName> graphs;
    std::vector<Item> items;
    std::vector<WholeItem> whole;  ///< some have the number of an item: the same of whole models
};

/// Throws ErrorKind::input in words for anything that is not as above: an unknown key, a column that is not there.
std::vector<Paper> parse_papers(std::string_view json);
/// data/papers.json, compiled in.
std::string_view papers_json();
const std::vector<Paper>& papers();

}  // namespace gnntune::tools::paper
