#include "tools/paper/data.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "tools/paper/fields.hpp"

namespace gnntune::tools::paper {
namespace {

template <typename T, typename Parse>
T word_of(const Json& object, const char* key, T otherwise, Parse parse) {
    if (!object.contains(key)) return otherwise;
    const auto text = object.at(key).get<std::string>();
    const auto value = parse(text);
    if (!value) throw input_error("papers: '" + text + "' is no " + key);
    return *value;
}

Term term_of(const Json& json, const std::string& where) {
    Term term;
    term.times = json.value("times", 1.0);
    term.problem.direction = word_of(json, "direction", Direction::forward, parse_direction);
    if (json.contains("build")) {
        require_keys(json, where, {"build", "base", "direction", "times"});
        term.build = json.at("build").get<std::string>();
        term.base = json.at("base").get<std::string>();
        return term;
    }
    require_keys(json, where,
                 {"op", "k", "heads", "reduce", "weighted", "direction", "self_loop", "variant", "params", "times",
                  "first_width", "prepare"});
    (void)json.at("op");
    term.problem.op = word_of(json, "op", Op::spmm, parse_op);
    term.problem.k = json.value("k", 0);
    term.problem.heads = json.value("heads", 1);
    term.problem.reduce = word_of(json, "reduce", Reduce::sum, parse_reduce);
    term.problem.weighted = json.value("weighted", true);
    term.problem.self_loop = json.value("self_loop", false);
    if (json.contains("variant")) term.variants = one_or_more(json.at("variant"));
    if (json.contains("params")) {
        for (const auto& entry : json.at("params").items()) {
            term.params.emplace_back(entry.key(), entry.value().get<std::string>());
        }
    }
    term.first_width = json.value("first_width", false);
    term.prepare = json.value("prepare", false);
    return term;
}

std::vector<Term> terms_of(const Json& json, const std::string& where) {
    std::vector<Term> terms;
    for (const Json& entry : json) terms.push_back(term_of(entry, where));
    if (terms.empty()) throw input_error("papers: " + where + " has no terms");
    return terms;
}

std::map<std::string, Cell> figures_of(const Json& json, const std::string& where) {
    std::map<std::string, Cell> figures;
    for (const auto& entry : json.items()) figures[entry.key()] = figure_of(entry.value(), where);
    return figures;
}

Column column_of(const Json& json, const std::string& item) {
    const std::string where = item + ", column " + json.at("key").get<std::string>();
    require_keys(json, where,
                 {"key", "title", "unit", "digits", "in_text", "paper", "time", "gflops", "graph", "S", "counted",
                  "modelled", "terms", "unless", "ratio", "least", "argleast"});
    Column c;
    c.shown = {json.at("key").get<std::string>(), json.at("title").get<std::string>(),
               json.value("unit", std::string()), json.value("digits", 2), json.value("in_text", true)};
    if (json.contains("paper")) {
        c.kind = Column::Kind::paper;
    } else if (json.contains("time")) {
        c.kind = Column::Kind::time;
        if (json.at("time").is_string())
            c.sum = json.at("time").get<std::string>();
        else
            c.terms = terms_of(json.at("time"), where);
        if (c.shown.unit != "us" && c.shown.unit != "ms")
            throw input_error("papers: " + where + " is in neither us nor ms");
    } else if (json.contains("gflops")) {
        c.kind = Column::Kind::gflops;
        c.terms = terms_of(json.at("gflops"), where);
    } else if (json.contains("graph")) {
        c.kind = Column::Kind::graph;
        c.word = json.at("graph").get<std::string>();
        c.width = json.value("S", std::int64_t{0});
    } else if (json.contains("counted")) {
        c.kind = Column::Kind::counted;
        c.word = json.at("counted").get<std::string>();
        c.sum = json.at("terms").get<std::string>();
    } else if (json.contains("modelled")) {
        c.kind = Column::Kind::modelled;
        c.word = json.at("modelled").get<std::string>();
        c.sum = json.at("terms").get<std::string>();
        if (json.contains("unless")) c.of = one_or_more(json.at("unless"));
    } else if (json.contains("ratio")) {
        c.kind = Column::Kind::ratio;
        require_keys(json.at("ratio"), where, {"of", "over", "scale"});
        c.of = one_or_more(json.at("ratio").at("of"));
        c.over = one_or_more(json.at("ratio").at("over"));
        c.scale = json.at("ratio").value("scale", 1.0);
    } else if (json.contains("least")) {
        c.kind = Column::Kind::least;
        c.of = one_or_more(json.at("least"));
    } else if (json.contains("argleast")) {
        c.kind = Column::Kind::argleast;
        for (const auto& entry : json.at("argleast").items()) {
            c.names.push_back(entry.key());
            c.of.push_back(entry.value().get<std::string>());
        }
    } else {
        throw input_error("papers: " + where + " has nothing that says what it holds");
    }
    return c;
}

Row row_of(const Json& json, const std::string& item) {
    require_keys(json, item + ", a row", {"graph", "model", "k", "widths", "paper"});
    Row row;
    row.graph = json.at("graph").get<std::string>();
    row.model = json.value("model", std::string());
    if (json.contains("k")) row.widths = {json.at("k").get<std::int32_t>()};
    if (json.contains("widths")) row.widths = json.at("widths").get<std::vector<std::int32_t>>();
    if (json.contains("paper")) row.paper = figures_of(json.at("paper"), item);
    return row;
}

// Columns may refer to those before them, rows to graphs, models and columns of the paper.
void check(const Item& item, const Paper& paper) {
    std::map<std::string, Column::Kind> known;
    const std::string where = paper.id + " " + item.name();
    for (const Column& c : item.columns) {
        for (const auto* list : {&c.of, &c.over}) {
            for (const std::string& key : *list) {
                if (!known.contains(key)) throw input_error("papers: " + where + " has no column '" + key + "' so far");
            }
        }
        if (!known.emplace(c.shown.key, c.kind).second) {
            throw input_error("papers: " + where + " has two columns '" + c.shown.key + "'");
        }
    }
    const auto quoted = [&](const std::map<std::string, Cell>& figures) {
        for (const auto& [key, cell] : figures) {
            const auto at = known.find(key);
            if (at == known.end() || at->second != Column::Kind::paper) {
                throw input_error("papers: " + where + " has no column of the paper '" + key + "'");
            }
        }
    };
    quoted(item.average_paper);
    for (const Row& row : item.rows) {
        quoted(row.paper);
        if (!paper.graphs.contains(row.graph))
            throw input_error("papers: " + where + " has no graph '" + row.graph + "'");
        for (const Column& c : item.columns) {
            if (c.sum.empty()) continue;
            const auto model = item.sums.find(row.model);
            if (model == item.sums.end() || !model->second.contains(c.sum)) {
                throw input_error("papers: " + where + " has no sum '" + c.sum + "' of '" + row.model + "'");
            }
        }
    }
}

Item item_of(const Json& json, const Paper& paper) {
    const std::string where =
        paper.id + " " + json.at("kind").get<std::string>() + " " + json.at("number").get<std::string>();
    require_keys(json, where,
                 {"kind", "number", "alias", "title", "source", "says", "ours", "model_title", "sums", "columns",
                  "rows", "average"});
    Item item;
    const auto kind = json.at("kind").get<std::string>();
    if (kind != "table" && kind != "figure") throw input_error("papers: " + where + " is neither table nor figure");
    item.is_table = kind == "table";
    item.number = json.at("number").get<std::string>();
    item.alias = json.value("alias", item.number);
    item.title = json.at("title").get<std::string>();
    item.source = json.at("source").get<std::string>();
    item.says = json.at("says").get<std::string>();
    item.ours = json.at("ours").get<std::string>();
    item.model_title = json.value("model_title", std::string("model"));
    if (json.contains("sums")) {
        for (const auto& model : json.at("sums").items()) {
            for (const auto& sum : model.value().items()) {
                item.sums[model.key()][sum.key()] = terms_of(sum.value(), where + ", sum " + sum.key());
            }
        }
    }
    for (const Json& column : json.at("columns")) item.columns.push_back(column_of(column, where));
    for (const Json& row : json.at("rows")) item.rows.push_back(row_of(row, where));
    if (json.contains("average")) {
        item.average_of = one_or_more(json.at("average").at("of"));
        item.average_paper = figures_of(json.at("average").at("paper"), where);
    }
    check(item, paper);
    return item;
}

}  // namespace

std::vector<Paper> parse_papers(std::string_view text) {
    try {
        std::vector<Paper> papers;
        const Json document = Json::parse(text);
        for (const Json& json : document.at("papers")) {
            Paper paper;
            require_keys(json, "a paper", {"id", "title", "venue", "device", "graphs", "items", "whole"});
            paper.id = json.at("id").get<std::string>();
            paper.title = json.at("title").get<std::string>();
            paper.venue = json.at("venue").get<std::string>();
            paper.device = json.at("device").get<std::string>();
            for (const auto& graph : json.at("graphs").items()) {
                require_keys(graph.value(), paper.id + ", a graph", {"paper", "name", "file"});
                paper.graphs[graph.key()] = {graph.value().at("paper").get<std::string>(),
                                             graph.value().at("name").get<std::string>(),
                                             graph.value().at("file").get<std::string>()};
            }
            for (const Json& item : json.at("items")) paper.items.push_back(item_of(item, paper));
            for (const Json& item : json.value("whole", Json::array())) {
                paper.whole.push_back(parse_whole(item, paper.id));
            }
            papers.push_back(std::move(paper));
        }
        return papers;
    } catch (const Json::exception& error) {
        throw input_error(std::string("papers: ") + error.what());
    }
}

const std::vector<Paper>& papers() {
    static const std::vector<Paper> kPapers = parse_papers(papers_json());
    return kPapers;
}

}  // namespace gnntune::tools::paper
