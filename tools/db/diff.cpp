// gnntune db diff: what two databases have both measured, judged.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/verdicts.hpp"
#include "tools/db/db.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kDiffUsage = "gnntune db diff [options] A.db B.db";

Options diff_options() {
    Options options(
        "db diff",
        {kDiffUsage,
         "Judges every config that both databases have timed on one graph, problem and device: SAME, FAST, "
         "SLOW (B against A) or AMBIGUOUS, from the medians, their confidence intervals and the noise of "
         "both. Then choices that differ, and what each costs in the other. A table shows FAST and SLOW, "
         "CSV and JSON every verdict. Exit code 0 whatever the verdicts, but 1 with "
         "--fail-on where one of those is found; 3 if there is nothing in common to judge.",
         {"gnntune db diff before.db after.db", "gnntune db diff before.db after.db --only all --graph cora --op spmm",
          "gnntune db diff before.db after.db --fail-on SLOW --csv > verdicts.csv",
          "gnntune db diff old_driver.db new_driver.db --across"}});
    // clang-format off
    options.group("Choice").add_options()
        ("graph", value("LIST"), "these graphs only: names, or first digits of fingerprints")
        ("op", value("OP,..."), "these ops only")
        ("dim", value("K,..."), "these feature dimensions only")
        ("only", value("LIST"), "rows of these verdicts only, or all");
    // clang-format on
    add_verdict_options(options);
    return options;
}

// Fingerprints of the graphs that --graph names in either database.
std::set<std::string> named_graphs(const Parsed& parsed, const store::Store& a, const store::Store& b) {
    std::set<std::string> out;
    for (const std::string& word : parsed.list("graph")) {
        bool found = false;
        std::vector<std::string> known;
        for (const store::Store* store : {&a, &b}) {
            for (const store::GraphRow& row : store->find_graphs(word)) {
                out.insert(row.record.fingerprint.text());
                found = true;
            }
            for (const store::GraphRow& row : store->graphs()) known.push_back(row.record.name);
        }
        if (!found) {
            throw input_error(fmt::format("{}: neither {} nor {} has a graph of this name or fingerprint{}", word,
                                          a.path().string(), b.path().string(), did_you_mean(word, known)));
        }
    }
    return out;
}

std::string environments_text(const tuner::Side& side) {
    std::set<std::string> texts;
    for (const tuner::Recorded& r : side.measurements) {
        const Environment& e = r.environment;
        texts.insert(e.backend == Backend::cpu ? fmt::format("{}, {} threads", e.device_name, e.multiprocessors)
                                               : fmt::format("{}, driver {}, CUDA {}, {}", e.device_name, e.driver,
                                                             e.cuda_runtime, e.libraries));
    }
    return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, "; "));
}

Table change_table(const tuner::Comparison& comparison) {
    Table table({{"graph", "graph", ""},
                 {"problem", "problem", ""},
                 {"config", "config", ""},
                 {"policy", "policy", ""},
                 {"clock", "clock", ""},
                 {"a_status", "A", ""},
                 {"b_status", "B", ""},
                 {"reason", "reason", ""},
                 {"across", "across", ""}});
    for (const tuner::StatusChange& c : comparison.changes) {
        const Measurement& a = c.a.measurement;
        const Measurement& b = c.b.measurement;
        table.add({c.a.graph, short_problem(c.a.problem), a.config.text(), std::string(to_text(a.policy)),
                   std::string(to_text(a.clock)), std::string(to_text(a.status)), std::string(to_text(b.status)),
                   b.median_us > 0 ? a.reason : b.reason, c.across},
                  b.median_us > 0 ? Style::good : Style::bad);
    }
    return table;
}

Cell percent(const std::optional<double>& part) {
    return part ? Cell(100 * *part) : Cell();
}

Table choice_table(const tuner::Comparison& comparison) {
    Table table({{"graph", "graph", ""},
                 {"problem", "problem", ""},
                 {"device", "device", "", 0, false},
                 {"policy", "policy", ""},
                 {"clock", "clock", ""},
                 {"a_config", "choice in A", ""},
                 {"b_config", "choice in B", ""},
                 {"regret_of_a_percent", "A's costs in B", "%", 2},
                 {"regret_of_b_percent", "B's costs in A", "%", 2}});
    for (const tuner::ChoiceChange& c : comparison.choices) {
        table.add({c.graph, short_problem(c.problem), c.device, std::string(to_text(c.policy)),
                   std::string(to_text(c.clock)), c.a.text(), c.b.text(), percent(c.regret_of_a),
                   percent(c.regret_of_b)});
    }
    return table;
}

// "0.41 % (geometric mean; 3.10 % at worst)" of the regrets that are known.
std::string regret_text(const tuner::Comparison& comparison, std::optional<double> tuner::ChoiceChange::*regret) {
    double logs = 0;
    double worst = -1;
    int n = 0;
    for (const tuner::ChoiceChange& c : comparison.choices) {
        if (!(c.*regret)) continue;
        logs += std::log1p(*(c.*regret));
        worst = std::max(worst, *(c.*regret));
        ++n;
    }
    if (n == 0) return "an unknown time";
    return fmt::format("{:.2f} % (geometric mean; {:.2f} % at worst)", 100 * std::expm1(logs / n), 100 * worst);
}

std::string choice_sentence(const tuner::Comparison& comparison) {
    std::string text = fmt::format("choices: {} of {} problems changed", comparison.choices.size(), comparison.chosen);
    if (comparison.choices.empty()) return text;
    return text + fmt::format("; there A's choice costs {} in B, and B's {} in A",
                              regret_text(comparison, &tuner::ChoiceChange::regret_of_a),
                              regret_text(comparison, &tuner::ChoiceChange::regret_of_b));
}

Json one_sided(const std::vector<tuner::Recorded>& rows) {
    Json out = Json::array();
    for (const tuner::Recorded& r : rows) {
        const Measurement& m = r.measurement;
        out.push_back({{"graph", r.graph},
                       {"problem", to_text(r.problem)},
                       {"device", r.environment.device_name},
                       {"policy", to_text(m.policy)},
                       {"clock", to_text(m.clock)},
                       {"config", m.config.text()},
                       {"variant_version", m.variant_version},
                       {"time_us", m.median_us}});
    }
    return out;
}

void print(Output& out, const tuner::Comparison& comparison, const std::vector<tuner::Judged>& only,
           const std::vector<std::string>& paths) {
    const Table pairs = pair_table(comparison, only);
    const Table changes = change_table(comparison);
    const Table choices = choice_table(comparison);
    const Table tallies = tally_table(comparison);
    switch (out.format()) {
        case OutputFormat::table:
            for (const auto& [title, table] :
                 {std::pair{"", &pairs}, std::pair{"timed on one side only, tried on both", &changes},
                  std::pair{"choices that changed", &choices}}) {
                if (table->rows() == 0) continue;
                if (*title) out.print_line(title);
                out.print(*table);
                out.print_line();
            }
            out.print(tallies);
            break;
        case OutputFormat::csv:
            out.print(pairs);
            break;
        case OutputFormat::json: {
            Json data;
            data["a"] = paths[0];
            data["b"] = paths[1];
            data["verdicts"] = pairs.json();
            data["status_changes"] = changes.json();
            data["choices_compared"] = comparison.chosen;
            data["choices_changed"] = choices.json();
            data["only_a"] = one_sided(comparison.only_a);
            data["only_b"] = one_sided(comparison.only_b);
            data["summary"] = tallies.json();
            out.print_json(Json::array({data}));
            break;
        }
    }
}

}  // namespace

int run_db_diff(const Args& args) {
    const auto parsed = diff_options().parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 2, 2, kDiffUsage);
    auto only = verdicts(*parsed, "only");
    (void)verdicts(*parsed, "fail-on");  // a misspelt word is told before anything is printed
    const auto ops = parsed->ops("op");
    const auto dims = parsed->integers("dim", 1, INT32_MAX);

    Output out("db.diff", parsed->common);
    if (only.empty()) {
        only = {tuner::Judged::slow, tuner::Judged::fast};
        if (!out.is_table()) only.insert(only.end(), {tuner::Judged::ambiguous, tuner::Judged::same});
    }
    const std::vector<std::string>& paths = parsed->arguments;
    const store::Store store_a = open_store(paths[0], store::Mode::read_only, out);
    const store::Store store_b = open_store(paths[1], store::Mode::read_only, out);
    tuner::SideFilter filter;
    if (const auto graphs = named_graphs(*parsed, store_a, store_b); !graphs.empty()) {
        filter.graph = [graphs](const Fingerprint& f) { return graphs.contains(f.text()); };
    }
    filter.problem = [&](const Problem& p) {
        return (ops.empty() || std::find(ops.begin(), ops.end(), p.op) != ops.end()) &&
               (dims.empty() || std::find(dims.begin(), dims.end(), p.k) != dims.end());
    };
    const tuner::Side a = side_of(store_a, filter);
    const tuner::Side b = side_of(store_b, filter);
    const tuner::Comparison comparison = compare(a, b, {parsed->flag("across")});
    if (comparison.pairs.empty() && comparison.changes.empty()) {
        const auto elsewhere = compare(a, b, {true}).pairs.size();
        throw input_error(fmt::format(
            "{} and {} have timed no config in common on the same graph, problem and device; A has {}; B has {}{}",
            paths[0], paths[1], environments_text(a), environments_text(b),
            elsewhere > 0 ? fmt::format("; --across judges {} of other devices or versions, and marks them", elsewhere)
                          : std::string()));
    }
    print(out, comparison, only, paths);
    out.note(tally_sentence(comparison, paths[0], paths[1]));
    if (!comparison.changes.empty()) {
        out.note(fmt::format("{} configs were timed on one side and wrong, refused or failed on the other",
                             comparison.changes.size()));
    }
    out.note(choice_sentence(comparison));
    return exit_code_of(comparison, *parsed, out);
}

}  // namespace gnntune::tools
