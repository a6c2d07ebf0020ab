#include "tools/paper/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/common/error.hpp"
#include "profiles/fields/features_json.hpp"
#include "tools/paper/commands.hpp"
#include "tools/paper/facts.hpp"
#include "tools/paper/fields.hpp"

namespace gnntune::tools::paper {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

std::vector<std::int32_t> widths_of(const Term& term, const Row& row) {
    if (term.problem.k > 0) return {term.problem.k};
    std::vector<std::int32_t> widths = row.widths;
    if (widths.empty()) widths = {1};  // an op without features
    if (term.first_width) widths.resize(1);
    // An op that does not look at k is done once.
    Problem any = term.problem;
    any.k = 2;
    if (normalised(any).k == 1) widths = {1};
    return widths;
}

/// One pass over an item with times of one source.
class Filler {
public:
    Filler(const Paper& paper, const Item& item, Evidence& evidence, const SheetOptions& options,
           std::optional<Source> source)
        : paper_(paper), item_(item), evidence_(evidence), options_(options), source_(std::move(source)) {}

    Sheet run() {
        const bool models = std::any_of(item_.rows.begin(), item_.rows.end(), [](auto& r) { return !r.model.empty(); });
        const bool widths =
            std::any_of(item_.rows.begin(), item_.rows.end(), [](auto& r) { return !r.widths.empty(); });
        sheet_.columns = {{"paper_graph", "paper: graph", ""}, {"graph", "graph", ""}};
        if (models) sheet_.columns.push_back({"model", item_.model_title, ""});
        if (widths) sheet_.columns.push_back({"k", "k", ""});
        for (const Column& c : item_.columns) sheet_.columns.push_back(c.shown);
        for (const char* key : {"device", "clock", "notes"}) sheet_.columns.push_back({key, key, "", 0, false});
        for (const Row& row : item_.rows) {
            row_ = &row;
            cells_.clear();
            row_notes_.clear();
            for (const Column& c : item_.columns) cells_[c.shown.key] = cell_of(c);
            const GraphName& graph = paper_.graphs.at(row.graph);
            std::vector<Cell> cells{graph.paper, graph.name};
            if (models) cells.emplace_back(row.model);
            if (widths) cells.emplace_back(widths_text(row));
            for (const Column& c : item_.columns) {
                cells.push_back(cells_[c.shown.key]);
                columns_[c.shown.key].push_back(cells_[c.shown.key]);
            }
            add_row(std::move(cells));
        }
        if (!item_.average_of.empty()) add_average(models, widths);
        sheet_.commands = missing_.text(options_.db);
        if (timed_ > 0) sheet_.source = source_;
        return std::move(sheet_);
    }

    int timed() const { return timed_; }

private:
    static std::string widths_text(const Row& row) { return fmt::format("{}", fmt::join(row.widths, "+")); }

    const std::vector<Term>& terms_of(const Column& c) const {
        return c.sum.empty() ? c.terms : item_.sums.at(row_->model).at(c.sum);
    }

    const KnownGraph* graph() const { return evidence_.graph(name().name); }
    const GraphName& name() const { return paper_.graphs.at(row_->graph); }

    Cell cell_of(const Column& c) {
        switch (c.kind) {
            case Column::Kind::paper: {
                const auto at = row_->paper.find(c.shown.key);
                return at == row_->paper.end() ? Cell() : at->second;
            }
            case Column::Kind::time: {
                const auto us = time_us(terms_of(c), c);
                return us ? Cell(c.shown.unit == "ms" ? *us / 1000 : *us) : Cell();
            }
            case Column::Kind::gflops:
                return gflops(c);
            case Column::Kind::graph:
                return fact(c);
            case Column::Kind::counted:
                return counted(c);
            case Column::Kind::modelled:
                // What was counted needs no model.
                return sum_of(cells_, c.of) && !c.of.empty() ? Cell() : modelled(c);
            case Column::Kind::ratio: {
                const auto of = sum_of(cells_, c.of);
                const auto over = sum_of(cells_, c.over);
                return of && over && *over != 0 ? Cell(c.scale * *of / *over) : Cell();
            }
            case Column::Kind::least:
            case Column::Kind::argleast:
                return least(c);
        }
        return {};
    }

    Cell least(const Column& c) {
        double lowest = std::numeric_limits<double>::infinity();
        std::string word;
        for (std::size_t i = 0; i < c.of.size(); ++i) {
            const auto value = number_of(cells_[c.of[i]]);
            // The lowest of two means nothing where one is missing; of a row of params it is the best that was tried.
            if (!value && c.kind == Column::Kind::least) return {};
            if (!value || *value >= lowest) continue;
            lowest = *value;
            if (!c.names.empty()) word = c.names[i];
        }
        if (lowest == std::numeric_limits<double>::infinity()) return {};
        return c.kind == Column::Kind::least ? Cell(lowest) : Cell(word);
    }

    std::optional<double> build_us(const Term& term) {
        const KnownGraph* g = graph();
        if (g && g->id && source_) {
            for (const FormatBuild& b : evidence_.builds(*g->id, *source_)) {
                if (b.format == term.build && b.base == term.base && b.direction == term.problem.direction) {
                    return b.build_us;
                }
            }
        }
        missing_.add(name().file, term, 1);
        return std::nullopt;
    }

    std::optional<double> measured_us(const Term& term, std::int32_t k, const Column& c) {
        const KnownGraph* g = graph();
        Problem problem = term.problem;
        problem.k = k;
        problem = normalised(problem);
        Timed timed;
        if (g && g->id && source_) timed = evidence_.fastest(*g->id, *source_, term, problem);
        if (!timed.fastest) {
            if (timed.why_not.empty())
                missing_.add(name().file, term, problem.k);
            else
                note(fmt::format("{}, {}: {}", name().name, to_text(problem), timed.why_not));
            return std::nullopt;
        }
        if (timed.few_samples()) {
            note(fmt::format("{}, {}, {}: few samples, since the tuner gave it up early ({})", name().name,
                             c.shown.title, to_text(problem), timed.fastest->config.text()));
        }
        return term.prepare ? timed.fastest->prepare_us : timed.fastest->median_us;
    }

    /// Nothing if any of the terms is missing; all of them are asked for, so that the commands are complete.
    std::optional<double> time_us(const std::vector<Term>& terms, const Column& c) {
        double total = 0;
        bool complete = true;
        for (const Term& term : terms) {
            if (!term.build.empty()) {
                const auto us = build_us(term);
                complete = complete && us;
                total += term.times * us.value_or(0);
                continue;
            }
            for (const std::int32_t k : widths_of(term, *row_)) {
                const auto us = measured_us(term, k, c);
                complete = complete && us;
                total += term.times * us.value_or(0);
            }
        }
        if (!complete) return std::nullopt;
        ++timed_;
        return total;
    }

    Cell gflops(const Column& c) {
        const auto us = time_us(c.terms, c);
        if (!us || *us <= 0) return {};
        double flops = 0;
        for (const Term& term : c.terms) {
            for (const std::int32_t k : widths_of(term, *row_)) {
                flops += term.times * 2.0 * static_cast<double>(graph()->m) * k;
            }
        }
        return flops / *us / 1000;
    }

    std::optional<Features> features() {
        const KnownGraph* g = graph();
        auto found = g ? store::features_from(g->features_json) : std::nullopt;
        if (!found) missing_.add_graph(paper_.id, item_, name().file);
        return found;
    }

    Cell fact(const Column& c) {
        const auto f = features();
        return f ? graph_fact(*f, c.word, c.width) : Cell();
    }

    Cell counted(const Column& c) {
        std::optional<double> total;
        bool complete = true;
        for (const Term& term : terms_of(c)) {
            for (const std::int32_t k : widths_of(term, *row_)) {
                const auto bytes = counted_bytes(term, k, c.word);
                complete = complete && bytes;
                total = total.value_or(0) + term.times * bytes.value_or(0);
            }
        }
        if (!complete || !total) return {};
        ++timed_;
        return *total / kMebi;
    }

    std::optional<double> counted_bytes(const Term& term, std::int32_t k, const std::string& word) {
        const KnownGraph* g = graph();
        Problem problem = term.problem;
        problem.k = k;
        problem = normalised(problem);
        std::optional<Measurement> found;
        if (g && g->id && source_) found = evidence_.counted(*g->id, *source_, term, problem);
        if (!found) {
            missing_.add_counters(name().file, term, problem.k);
            return std::nullopt;
        }
        note(fmt::format("{}, {}: counted in {}", name().name, to_text(problem), found->config.text()));
        const Counters& c = *found->counters;
        const auto bytes_of = [](std::optional<double> sectors) {
            return sectors ? std::optional(32 * *sectors) : std::nullopt;
        };
        if (word == "dram_read") return c.dram_read_bytes;
        if (word == "dram_write") return c.dram_write_bytes;
        if (word == "l2_read") return bytes_of(c.l2_read_sectors);
        if (word == "l2_write") return bytes_of(c.l2_write_sectors);
        if (word == "l2_atomic") return c.reduction_bytes();
        throw input_error("papers: '" + word + "' is no counter");
    }

    Cell modelled(const Column& c) {
        const auto f = features();
        if (!f) return {};
        CostTerms total;
        for (const Term& term : terms_of(c)) {
            for (const std::int32_t k : widths_of(term, *row_)) {
                Problem problem = term.problem;
                problem.k = k;
                const Query query{normalised(problem), f->counts.n_rows, f->counts.n_cols, f->counts.m, &*f,
                                  &options_.device};
                const Variant* v = evidence_.registry().find(term.variants.empty() ? "" : term.variants.front());
                if (!v || !takes(*v, query)) {
                    note(v ? fmt::format("{} does not take {}", v->id, to_text(query.problem))
                           : "this build lacks a variant whose bytes are modelled: build with CUDA");
                    return {};
                }
                const CostTerms terms = v->cost_terms(query, v->default_params(query));
                total.dram_bytes += term.times * terms.dram_bytes;
                total.l2_bytes += term.times * terms.l2_bytes;
                total.reduction_bytes += term.times * terms.reduction_bytes;
            }
        }
        if (c.word == "dram_bytes") return total.dram_bytes / kMebi;
        if (c.word == "l2_bytes") return total.l2_bytes / kMebi;
        if (c.word == "reduction_bytes") return total.reduction_bytes / kMebi;
        return {};
    }

    void add_average(bool models, bool widths) {
        row_notes_.clear();
        std::vector<Cell> cells{std::string("average"), std::string()};
        if (models) cells.emplace_back(std::string());
        if (widths) cells.emplace_back(std::string());
        for (const Column& c : item_.columns) {
            const auto quoted = item_.average_paper.find(c.shown.key);
            if (quoted != item_.average_paper.end()) {
                cells.push_back(quoted->second);
                continue;
            }
            const auto& keys = item_.average_of;
            if (std::find(keys.begin(), keys.end(), c.shown.key) == keys.end()) {
                cells.emplace_back();
                continue;
            }
            double total = 0;
            double count = 0;
            for (const Cell& cell : columns_[c.shown.key]) {
                if (const auto value = number_of(cell)) {
                    total += *value;
                    count += 1;
                }
            }
            if (count > 0 && count < static_cast<double>(item_.rows.size())) {
                note(fmt::format("the average of '{}' is over {:.0f} of {} graphs", c.shown.title, count,
                                 item_.rows.size()));
            }
            cells.push_back(count > 0 ? Cell(total / count) : Cell());
        }
        add_row(std::move(cells));
    }

    void add_row(std::vector<Cell> cells) {
        if (source_) {
            cells.emplace_back(source_->device);
            cells.emplace_back(std::string(to_text(source_->clock)));
        } else {
            cells.resize(cells.size() + 2);
        }
        cells.emplace_back(row_notes_);
        sheet_.rows.push_back(std::move(cells));
    }

    void note(std::string text) {
        if (text.empty() || !noted_.insert(text).second) return;
        if (!row_notes_.empty()) row_notes_ += "; ";
        row_notes_ += text;
        sheet_.notes.push_back(std::move(text));
    }

    const Paper& paper_;
    const Item& item_;
    Evidence& evidence_;
    const SheetOptions& options_;
    std::optional<Source> source_;
    Sheet sheet_;
    MissingCommands missing_;
    const Row* row_ = nullptr;
    std::map<std::string, Cell> cells_;                 // of the row so far
    std::map<std::string, std::vector<Cell>> columns_;  // of all rows so far
    std::set<std::string> noted_;
    std::string row_notes_;
    int timed_ = 0;  // time cells that were filled
};

}  // namespace

Sheet fill(const Paper& paper, const Item& item, Evidence& evidence, const SheetOptions& options) {
    std::optional<Source> best;
    int most = 0;
    for (const Source& source : evidence.sources()) {
        Filler trial(paper, item, evidence, options, source);
        trial.run();
        if (trial.timed() <= most) continue;
        most = trial.timed();
        best = source;
    }
    return Filler(paper, item, evidence, options, best).run();
}

}  // namespace gnntune::tools::paper
