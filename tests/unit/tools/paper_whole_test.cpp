// Tables of whole models: questions of data/papers.json to rows of python/bench/models.py, on a small made-up file.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/common/error.hpp"
#include "tools/paper/data.hpp"
#include "tools/paper/whole.hpp"

namespace gnntune::tools::paper {
namespace {

constexpr const char* kItem = R"({
  "kind": "table", "number": "V", "alias": "5", "title": "t", "source": "s", "says": "p", "ours": "o",
  "rows": {"part": ["a", "b"], "what": "time", "title": "side", "and": [{"name": "PyG", "side": "theirs"},
                                                                       {"name": "ours", "side": "ours"}]},
  "columns": [
    {"key": "paper_ms", "title": "paper", "paper": true},
    {"key": "edges", "title": "edges", "of_graph": "m"},
    {"key": "least", "title": "least", "take": "least", "side": "{side}", "what": ["time", "quick time"]},
    {"key": "mean", "title": "mean", "take": "mean", "side": "{side}", "what": "accuracy"},
    {"key": "sd", "title": "sd", "take": "sd", "side": "{side}", "what": "accuracy"},
    {"key": "trainings", "title": "n", "take": "count", "side": "{side}", "what": "accuracy"},
    {"key": "way", "title": "way", "smallest": ["S=8 of {name}", "S=16 of {name}"], "under": 1, "what": "loss"},
    {"key": "way_us", "title": "us", "take": "first", "what": "sums", "way": "@way"},
    {"key": "way_high", "title": "high", "take": "high", "what": "loss", "way": "@way"},
    {"key": "share", "title": "share", "ratio": {"of": "least", "over": ["least", "way_us"], "scale": 100}},
    {"key": "apart", "title": "apart", "less": {"of": "least", "less": "way_us"}}],
  "quotes": [{"graph": "cora", "model": "GCN", "figures": {"paper_ms": 2.5}},
             {"graph": "big", "figures": {"paper_ms": "OOM"}}],
  "geomean": "least"})";

constexpr const char* kHead =
    "part,graph,n,m,model,side,form,way,what,value,low,high,note,device,torch,pyg,date,commit\n";

std::string line(const std::string& first, const std::string& value, const std::string& high = "") {
    return first + "," + value + ",0," + high + ",\"a, \"\"b\"\"\",GPU,2,3,today,abc\n";
}

std::string made_up() {
    std::string text = kHead;
    text += line("a,big,9,100,GCN,theirs,eager,,time", "8");
    text += line("a,cora,3,10,GCN,theirs,eager,,time", "4");
    text += line("b,cora,3,10,GCN,theirs,eager,,quick time", "2");
    text += line("c,cora,3,10,GCN,theirs,eager,,time", "1");  // another part
    text += line("a,cora,3,10,GCN,ours,eager,,time", "6");
    text += line("a,cora,3,10,GCN,ours,eager,,time", "");  // failed
    for (const char* value : {"1", "2", "6"}) text += line("a,cora,3,10,GCN,ours,,,accuracy", value);
    text += line("a,cora,3,10,GCN,,,S=8 of ours; S=8 of ours,loss", "1", "5");
    text += line("a,cora,3,10,GCN,,,S=16 of ours; S=16 of ours,loss", "0.5", "7");
    text += line("a,cora,3,10,GCN,,,S=16 of PyG; exact,loss", "0.5", "7");
    text += line("a,cora,3,10,GCN,,,S=16 of ours,sums", "2");
    return text;
}

WholeSheet sheet_of(const std::string& text) {
    return fill_whole(parse_whole(Json::parse(kItem), "made_up"), parse_model_rows(text, "f.csv"));
}

const Cell& cell(const WholeSheet& sheet, std::size_t row, const std::string& column) {
    for (std::size_t c = 0; c < sheet.columns.size(); ++c) {
        if (sheet.columns[c].key == column) return sheet.rows.at(row).at(c);
    }
    throw std::logic_error("no column " + column);
}

double number(const WholeSheet& sheet, std::size_t row, const std::string& column) {
    return std::get<double>(cell(sheet, row, column));
}

bool is_empty(const WholeSheet& sheet, std::size_t row, const std::string& column) {
    return std::holds_alternative<std::monostate>(cell(sheet, row, column));
}

TEST(PaperWhole, ARowForEachGraphModelAndWordOfWhichSomethingIsKnown) {
    const WholeSheet sheet = sheet_of(made_up());
    ASSERT_EQ(sheet.rows.size(), 4u);  // big has nothing of ours; the mean stands last
    EXPECT_EQ(std::get<std::string>(cell(sheet, 0, "graph")), "cora");
    EXPECT_EQ(std::get<std::string>(cell(sheet, 0, "of")), "PyG");
    EXPECT_EQ(std::get<std::string>(cell(sheet, 1, "of")), "ours");
    EXPECT_EQ(std::get<std::string>(cell(sheet, 2, "graph")), "big");
    EXPECT_DOUBLE_EQ(number(sheet, 0, "least"), 2);
    EXPECT_DOUBLE_EQ(number(sheet, 1, "least"), 6);
    EXPECT_DOUBLE_EQ(number(sheet, 1, "mean"), 3);
    EXPECT_NEAR(number(sheet, 1, "sd"), 2.6457513, 1e-6);
    EXPECT_EQ(std::get<std::int64_t>(cell(sheet, 1, "trainings")), 3);
    EXPECT_TRUE(is_empty(sheet, 0, "mean"));
    EXPECT_EQ(std::get<std::int64_t>(cell(sheet, 2, "edges")), 100);
    EXPECT_DOUBLE_EQ(number(sheet, 0, "paper_ms"), 2.5);
    EXPECT_EQ(std::get<std::string>(cell(sheet, 2, "paper_ms")), "OOM");
    EXPECT_NEAR(number(sheet, 3, "least"), std::cbrt(2.0 * 6.0 * 8.0), 1e-9);
    EXPECT_TRUE(is_empty(sheet, 3, "edges"));
    EXPECT_EQ(sheet.measured, std::vector<std::string>{"GPU, torch 2, PyG 3, today, commit abc"});
}

TEST(PaperWhole, TheSmallestSampleThatLosesLessNamesWhatIsAskedAfterIt) {
    const WholeSheet sheet = sheet_of(made_up());
    // A loss of 1 is not less than 1; a way of two kinds is not that of all sums alike.
    EXPECT_EQ(std::get<std::string>(cell(sheet, 1, "way")), "S=16 of ours");
    EXPECT_TRUE(is_empty(sheet, 0, "way"));
    EXPECT_TRUE(is_empty(sheet, 0, "way_us"));
    EXPECT_DOUBLE_EQ(number(sheet, 1, "way_us"), 2);
    EXPECT_DOUBLE_EQ(number(sheet, 1, "way_high"), 7);
    EXPECT_DOUBLE_EQ(number(sheet, 1, "share"), 75);
    EXPECT_DOUBLE_EQ(number(sheet, 1, "apart"), 4);
    EXPECT_TRUE(is_empty(sheet, 0, "share"));
}

TEST(PaperWhole, NothingKnownIsNoRow) {
    const WholeSheet sheet = sheet_of(kHead);
    EXPECT_TRUE(sheet.rows.empty());
    EXPECT_TRUE(sheet.measured.empty());
}

TEST(PaperWhole, DamagedFilesAreRefusedInWords) {
    const auto words = [](const std::string& text) {
        try {
            parse_model_rows(text, "f.csv");
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input);
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(words(made_up()), "accepted");
    EXPECT_EQ(words(""), "f.csv: has no column 'part'; expected the CSV that python/bench/models.py writes");
    std::string without = made_up();
    without.replace(without.find(",device"), 7, ",chip");
    EXPECT_EQ(words(without), "f.csv: has no column 'device'; expected the CSV that python/bench/models.py writes");
    EXPECT_EQ(words(made_up() + "a,b\n"), "f.csv, line 15: has 2 fields; expected 18");
    EXPECT_EQ(words(made_up() + "a,\"b"), "f.csv, line 15: a quoted field does not end");
}

TEST(PaperWhole, MistakesOfQuestionsAreNamed) {
    const auto words = [](const std::string& from, const std::string& to) {
        std::string text = kItem;
        const std::size_t at = text.find(from);
        if (at == std::string::npos) return "not there: " + from;
        text.replace(at, from.size(), to);
        try {
            parse_whole(Json::parse(text), "made_up");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    const std::string where = "papers: made_up whole table V";
    EXPECT_EQ(words("\"title\": \"t\"", "\"titel\": \"t\", \"title\": \"t\""), where + " has an unknown key 'titel'");
    EXPECT_EQ(words("\"take\": \"mean\"", "\"take\": \"mode\""), where + ", column mean takes the unknown 'mode'");
    EXPECT_EQ(words("\"way\": \"@way\"", "\"way\": \"@later\""), where + " has no column 'later' so far");
    EXPECT_EQ(words("\"geomean\": \"least\"", "\"geomean\": \"most\""), where + " has no column 'most' so far");
    EXPECT_EQ(words("\"key\": \"mean\"", "\"key\": \"least\""), where + " has two columns 'least'");
    EXPECT_EQ(words("{\"paper_ms\": 2.5}", "{\"mean\": 2.5}"), where + " has no column of the paper 'mean'");
    EXPECT_EQ(words("\"of_graph\": \"m\"", "\"of_graph\": \"k\""), where + ", column edges asks for neither n nor m");
    EXPECT_EQ(words("\"title\": \"side\", ", ""), where + " has rows without words or without a title for them");
    EXPECT_EQ(words("\"kind\": \"table\"", "\"kind\": \"page\""),
              "papers: made_up whole page V is neither table nor figure");
}

TEST(PaperWhole, WhatIsShippedAsksOfEveryPaperOnce) {
    std::set<std::string> names;
    for (const Paper& paper : papers()) {
        EXPECT_FALSE(paper.whole.empty()) << paper.id;
        for (const WholeItem& item : paper.whole) {
            EXPECT_TRUE(names.insert(paper.id + item.name()).second) << paper.id << " has two of " << item.name();
            EXPECT_FALSE(item.columns.empty());
        }
    }
    for (const char* name : {"tcgnnfigure 6", "tcgnntable 1", "fusegnntable 3", "fusegnnfigure 12", "fusegnnfigure 4",
                             "esspmmtable I", "esspmmtable III", "esspmmtable V", "esspmmfigure 3", "esspmmfigure 5",
                             "esspmmfigure 8", "esspmmfigure 9", "esspmmfigure 10"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

}  // namespace
}  // namespace gnntune::tools::paper
