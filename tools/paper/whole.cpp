#include "tools/paper/whole.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "core/common/error.hpp"
#include "core/common/numbers.hpp"
#include "tools/paper/fields.hpp"

namespace gnntune::tools::paper {
namespace {

// Columns of the file that a question may name, and others that a sheet needs.
constexpr std::array<const char*, 5> kAsked{"part", "side", "form", "way", "what"};
constexpr std::array<const char*, 12> kNeeded{"graph", "n",      "m",     "model", "value", "low",
                                              "high",  "device", "torch", "pyg",   "date",  "commit"};

WholeColumn whole_column(const Json& json, const std::string& item) {
    const std::string where = item + ", column " + json.at("key").get<std::string>();
    std::vector<std::string_view> known{"key", "title", "unit", "digits", "in_text"};
    WholeColumn c;
    c.shown = {json.at("key").get<std::string>(), json.at("title").get<std::string>(),
               json.value("unit", std::string()), json.value("digits", 2), json.value("in_text", true)};
    const auto filters = [&] {
        for (const char* key : kAsked) {
            known.emplace_back(key);
            if (json.contains(key)) c.filters[key] = one_or_more(json.at(key));
        }
    };
    if (json.contains("paper")) {
        known.emplace_back("paper");
    } else if (json.contains("of_graph")) {
        known.emplace_back("of_graph");
        c.kind = WholeColumn::Kind::of_graph;
        c.word = json.at("of_graph").get<std::string>();
        if (c.word != "n" && c.word != "m") throw input_error("papers: " + where + " asks for neither n nor m");
    } else if (json.contains("take")) {
        static const std::set<std::string> kTaken{"least", "mean", "sd", "count", "first", "low", "high"};
        known.emplace_back("take");
        c.kind = WholeColumn::Kind::take;
        c.word = json.at("take").get<std::string>();
        if (!kTaken.contains(c.word)) throw input_error("papers: " + where + " takes the unknown '" + c.word + "'");
        filters();
    } else if (json.contains("smallest")) {
        known.insert(known.end(), {"smallest", "under"});
        c.kind = WholeColumn::Kind::smallest;
        c.ways = one_or_more(json.at("smallest"));
        c.under = json.at("under").get<double>();
        filters();
    } else if (json.contains("ratio")) {
        known.emplace_back("ratio");
        require_keys(json.at("ratio"), where, {"of", "over", "scale"});
        c.kind = WholeColumn::Kind::ratio;
        c.of = json.at("ratio").at("of").get<std::string>();
        c.over = one_or_more(json.at("ratio").at("over"));
        c.scale = json.at("ratio").value("scale", 1.0);
    } else if (json.contains("less")) {
        known.emplace_back("less");
        require_keys(json.at("less"), where, {"of", "less"});
        c.kind = WholeColumn::Kind::less;
        c.of = json.at("less").at("of").get<std::string>();
        c.over = {json.at("less").at("less").get<std::string>()};
    } else {
        throw input_error("papers: " + where + " has nothing that says what it holds");
    }
    require_keys(json, where, known);
    return c;
}

// Columns may refer to those before them, figures to columns of the paper.
void check_whole(const WholeItem& item, const std::string& where) {
    std::map<std::string, WholeColumn::Kind> known;
    const auto require = [&](const std::string& key) {
        if (!known.contains(key)) throw input_error("papers: " + where + " has no column '" + key + "' so far");
    };
    for (const WholeColumn& c : item.columns) {
        if (!c.of.empty()) require(c.of);
        for (const std::string& key : c.over) require(key);
        for (const auto& [name, words] : c.filters) {
            for (const std::string& word : words) {
                if (word.starts_with('@')) require(word.substr(1));
            }
        }
        if (!known.emplace(c.shown.key, c.kind).second) {
            throw input_error("papers: " + where + " has two columns '" + c.shown.key + "'");
        }
    }
    for (const std::string& key : item.geomean) require(key);
    for (const auto& quote : item.quotes) {
        for (const auto& [key, cell] : quote.figures) {
            const auto at = known.find(key);
            if (at == known.end() || at->second != WholeColumn::Kind::paper) {
                throw input_error("papers: " + where + " has no column of the paper '" + key + "'");
            }
        }
    }
}

/// "bucket S=8; bucket S=8" is bucket S=8.
std::string uniform(const std::string& way) {
    std::size_t begin = 0;
    std::string first;
    for (bool more = true; more;) {
        const std::size_t end = way.find("; ", begin);
        more = end != std::string::npos;
        const std::string part = way.substr(begin, more ? end - begin : std::string::npos);
        if (begin == 0) first = part;
        if (part != first) return way;
        begin = end + 2;
    }
    return first;
}

/// One row of a sheet: what is known of a graph and model, and the words that stand for {name} in questions.
class Line {
public:
    Line(const WholeItem& item, std::vector<const ModelRow*> rows, const WholeItem::Words& words)
        : item_(item), rows_(std::move(rows)), words_(words) {}

    Cell cell_of(const WholeColumn& c) {
        Cell cell = make(c);
        cells_[c.shown.key] = cell;
        return cell;
    }
    /// Whether anything was measured.
    bool filled() const { return filled_; }
    const std::vector<const ModelRow*>& used() const { return used_; }

private:
    Cell make(const WholeColumn& c) {
        switch (c.kind) {
            case WholeColumn::Kind::paper:
                return quoted(c.shown.key);
            case WholeColumn::Kind::of_graph: {
                const auto value = parse_number<std::int64_t>(rows_.front()->at(c.word));
                return value ? Cell(*value) : Cell();
            }
            case WholeColumn::Kind::take:
                return taken(c.word, found(c.filters));
            case WholeColumn::Kind::smallest:
                for (const std::string& way : c.ways) {
                    auto filters = c.filters;
                    filters["way"] = {way};
                    const auto value = number_of(taken("first", found(filters)));
                    if (value && *value < c.under) return replaced(way);
                }
                return {};
            case WholeColumn::Kind::ratio: {
                const auto of = number_of(cells_[c.of]);
                const auto over = sum_of(cells_, c.over);
                return of && over && *over != 0 ? Cell(c.scale * *of / *over) : Cell();
            }
            case WholeColumn::Kind::less: {
                const auto of = number_of(cells_[c.of]);
                const auto less = sum_of(cells_, c.over);
                return of && less ? Cell(*of - *less) : Cell();
            }
        }
        return {};
    }

    Cell quoted(const std::string& key) const {
        for (const auto& quote : item_.quotes) {
            if (quote.graph != rows_.front()->at("graph")) continue;
            if (!quote.model.empty() && quote.model != rows_.front()->at("model")) continue;
            const auto at = quote.figures.find(key);
            if (at != quote.figures.end()) return at->second;
        }
        return {};
    }

    /// The text with {name} replaced by the row's word, and @key by the text of that column; empty if that has none.
    std::string replaced(std::string text) const {
        if (text.starts_with('@')) {
            const auto at = cells_.find(text.substr(1));
            const auto* word = at == cells_.end() ? nullptr : std::get_if<std::string>(&at->second);
            return word ? *word : std::string();
        }
        for (const auto& [name, word] : words_) {
            const std::string place = "{" + name + "}";
            for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + word.size())) {
                text.replace(at, place.size(), word);
            }
        }
        return text;
    }

    std::vector<const ModelRow*> found(const std::map<std::string, std::vector<std::string>>& filters) const {
        auto wanted = filters;
        if (!wanted.contains("part")) wanted["part"] = item_.part;
        for (auto& [name, texts] : wanted) {
            for (std::string& text : texts) text = replaced(text);
        }
        std::vector<const ModelRow*> rows;
        for (const ModelRow* row : rows_) {
            if (row->at("value").empty()) continue;
            const bool fits = std::all_of(wanted.begin(), wanted.end(), [&](const auto& filter) {
                return std::find(filter.second.begin(), filter.second.end(), row->at(filter.first)) !=
                       filter.second.end();
            });
            if (fits) rows.push_back(row);
        }
        return rows;
    }

    Cell taken(const std::string& how, const std::vector<const ModelRow*>& rows) {
        if (rows.empty()) return {};
        filled_ = true;
        used_.insert(used_.end(), rows.begin(), rows.end());
        if (how == "count") return static_cast<std::int64_t>(rows.size());
        std::vector<double> values;
        for (const ModelRow* row : rows) {
            const auto value = parse_number<double>(row->at(how == "low" || how == "high" ? how : "value"));
            if (value) values.push_back(*value);
        }
        if (values.empty()) return {};
        if (how == "least") return *std::min_element(values.begin(), values.end());
        if (how != "mean" && how != "sd") return values.front();
        double mean = 0;
        for (const double value : values) mean += value / static_cast<double>(values.size());
        if (how == "mean") return mean;
        double squares = 0;
        for (const double value : values) squares += (value - mean) * (value - mean);
        return values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0.0;
    }

    const WholeItem& item_;
    std::vector<const ModelRow*> rows_;
    const WholeItem::Words& words_;
    std::map<std::string, Cell> cells_;
    std::vector<const ModelRow*> used_;
    bool filled_ = false;
};

/// Fields of one line of RFC 4180 CSV; `at` moves behind it.
std::vector<std::string> fields_of(std::string_view text, std::size_t& at, const std::string& name, std::size_t line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c != '"') {
                fields.back() += c;
            } else if (at + 1 < text.size() && text[at + 1] == '"') {
                fields.back() += text[++at];
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else if (c == '\n') {
            ++at;
            return fields;
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    if (quoted) throw input_error(fmt::format("{}, line {}: a quoted field does not end", name, line));
    return fields;
}

}  // namespace

WholeItem parse_whole(const Json& json, const std::string& paper) {
    WholeItem item;
    const auto kind = json.at("kind").get<std::string>();
    item.number = json.at("number").get<std::string>();
    const std::string where = fmt::format("{} whole {} {}", paper, kind, item.number);
    require_keys(
        json, where,
        {"kind", "number", "alias", "title", "source", "says", "ours", "rows", "columns", "quotes", "geomean"});
    if (kind != "table" && kind != "figure") throw input_error("papers: " + where + " is neither table nor figure");
    item.is_table = kind == "table";
    item.alias = json.value("alias", item.number);
    item.title = json.at("title").get<std::string>();
    item.source = json.at("source").get<std::string>();
    item.says = json.at("says").get<std::string>();
    item.ours = json.at("ours").get<std::string>();
    const Json& rows = json.at("rows");
    require_keys(rows, where + ", rows", {"part", "what", "model", "and", "title"});
    item.part = one_or_more(rows.at("part"));
    item.what = rows.value("what", std::string());
    if (rows.contains("model")) item.models = one_or_more(rows.at("model"));
    item.and_title = rows.value("title", std::string());
    for (const Json& words : rows.value("and", Json::array({Json::object()}))) {
        item.each.emplace_back();
        for (const auto& word : words.items())
            item.each.back().emplace_back(word.key(), word.value().get<std::string>());
    }
    if (item.each.empty() || (item.each.size() > 1 && (item.and_title.empty() || item.each.front().empty()))) {
        throw input_error("papers: " + where + " has rows without words or without a title for them");
    }
    for (const Json& column : json.at("columns")) item.columns.push_back(whole_column(column, where));
    for (const Json& entry : json.value("quotes", Json::array())) {
        require_keys(entry, where + ", a quote", {"graph", "model", "figures"});
        WholeItem::Quote quote{entry.at("graph").get<std::string>(), entry.value("model", std::string()), {}};
        for (const auto& figure : entry.at("figures").items()) {
            quote.figures[figure.key()] = figure_of(figure.value(), where);
        }
        item.quotes.push_back(std::move(quote));
    }
    if (json.contains("geomean")) item.geomean = one_or_more(json.at("geomean"));
    check_whole(item, where);
    return item;
}

std::vector<ModelRow> parse_model_rows(std::string_view text, const std::string& name) {
    std::size_t at = 0;
    std::size_t line = 1;
    const std::vector<std::string> head = fields_of(text, at, name, line);
    const auto require = [&](const char* column) {
        if (std::find(head.begin(), head.end(), column) != head.end()) return;
        throw input_error(
            fmt::format("{}: has no column '{}'; expected the CSV that python/bench/models.py writes", name, column));
    };
    for (const char* column : kAsked) require(column);
    for (const char* column : kNeeded) require(column);
    std::vector<ModelRow> rows;
    while (at < text.size()) {
        ++line;
        const auto fields = fields_of(text, at, name, line);
        if (fields.size() == 1 && fields.front().empty()) continue;
        if (fields.size() != head.size()) {
            throw input_error(
                fmt::format("{}, line {}: has {} fields; expected {}", name, line, fields.size(), head.size()));
        }
        ModelRow row;
        for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = fields[i];
        row["way"] = uniform(row["way"]);
        rows.push_back(std::move(row));
    }
    return rows;
}

WholeSheet fill_whole(const WholeItem& item, const std::vector<ModelRow>& rows) {
    // Of a graph and model everything is kept: columns may ask for other parts. Cases are those of the item's parts.
    std::map<std::pair<std::string, std::string>, std::vector<const ModelRow*>> known;
    std::set<std::tuple<std::int64_t, std::string, std::string>> cases;
    for (const ModelRow& row : rows) {
        if (row.at("graph").empty()) continue;
        known[{row.at("graph"), row.at("model")}].push_back(&row);
        const auto among = [&](const std::vector<std::string>& words, const char* column) {
            return std::find(words.begin(), words.end(), row.at(column)) != words.end();
        };
        const bool wanted = among(item.part, "part") && (item.models.empty() || among(item.models, "model"));
        if (wanted && (item.what.empty() || row.at("what") == item.what)) {
            const auto edges = parse_number<std::int64_t>(row.at("m")).value_or(0);
            cases.emplace(edges, row.at("graph"), row.at("model"));
        }
    }
    WholeSheet sheet;
    sheet.columns = {{"graph", "graph", ""}, {"model", "model", ""}};
    if (!item.and_title.empty()) sheet.columns.push_back({"of", item.and_title, ""});
    for (const WholeColumn& c : item.columns) sheet.columns.push_back(c.shown);
    std::map<std::string, std::pair<double, int>> logarithms;
    std::set<std::string> said;
    for (const auto& [edges, graph, model] : cases) {
        for (const WholeItem::Words& words : item.each) {
            Line line(item, known[{graph, model}], words);
            std::vector<Cell> cells{graph, model};
            if (!item.and_title.empty()) cells.emplace_back(words.front().second);
            for (const WholeColumn& c : item.columns) cells.push_back(line.cell_of(c));
            if (!line.filled()) continue;
            for (std::size_t i = 0; i < item.columns.size(); ++i) {
                const auto value = number_of(cells[cells.size() - item.columns.size() + i]);
                if (!value || *value <= 0) continue;
                auto& [sum, count] = logarithms[item.columns[i].shown.key];
                sum += std::log(*value);
                ++count;
            }
            for (const ModelRow* row : line.used()) {
                std::string text = fmt::format("{}, torch {}, PyG {}, {}, commit {}", row->at("device"),
                                               row->at("torch"), row->at("pyg"), row->at("date"), row->at("commit"));
                if (said.insert(text).second) sheet.measured.push_back(std::move(text));
            }
            sheet.rows.push_back(std::move(cells));
        }
    }
    if (!item.geomean.empty() && !sheet.rows.empty()) {
        std::vector<Cell> cells{std::string("geometric mean"), Cell()};
        cells.resize(sheet.columns.size() - item.columns.size());
        for (const WholeColumn& c : item.columns) {
            const bool wanted = std::find(item.geomean.begin(), item.geomean.end(), c.shown.key) != item.geomean.end();
            const auto& [sum, count] = logarithms[c.shown.key];
            cells.push_back(wanted && count > 0 ? Cell(std::exp(sum / count)) : Cell());
        }
        sheet.rows.push_back(std::move(cells));
    }
    return sheet;
}

}  // namespace gnntune::tools::paper
