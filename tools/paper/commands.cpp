#include "tools/paper/commands.hpp"

#include "core/registry/op.hpp"

namespace gnntune::tools::paper {
namespace {

template <typename List, typename Text>
std::string comma_list(const List& list, Text text_of) {
    std::string text;
    for (const auto& value : list) {
        if (!text.empty()) text += ',';
        text += text_of(value);
    }
    return text;
}

}  // namespace

void MissingCommands::add(const std::string& file, const Term& term, std::int32_t k) {
    Problem problem = term.problem;
    if (!term.build.empty()) problem.op = term.build == "sgt" ? Op::sgt : Op::coo_to_csr;
    problem.k = k;
    // Every tuning of a graph measures what its formats cost, so a build needs no more than the smallest problem.
    Asked& asked = ask(false, file, problem);
    asked.variants.insert(term.variants.begin(), term.variants.end());
    asked.every_variant = asked.every_variant || term.variants.empty();
}

void MissingCommands::add_counters(const std::string& file, const Term& term, std::int32_t k) {
    Problem problem = term.problem;
    problem.k = k;
    ask(true, file, problem).variants.insert(term.variants.front());
}

MissingCommands::Asked& MissingCommands::ask(bool counters, const std::string& file, const Problem& problem) {
    // What an op does not look at keeps gnntune tune's default, so that calls differ in nothing that does not matter.
    Problem weighted = problem;
    weighted.weighted = true;
    const bool without = !problem.weighted && normalised(weighted).weighted;
    const Call call{counters, file, problem.op, problem.heads, problem.reduce, !without, problem.self_loop};
    Asked& asked = calls_[call];
    asked.widths.insert(problem.k);
    asked.directions.insert(problem.direction);
    return asked;
}

void MissingCommands::add_graph(const std::string& paper, const Item& item, const std::string& file) {
    std::string command = "gnntune paper ";
    command.append(paper).append(item.is_table ? " --table " : " --figure ").append(item.number);
    graphs_[command].insert(file);
}

std::vector<std::string> MissingCommands::text(const std::string& db) const {
    std::string database;
    if (!db.empty()) database.append(" --db ").append(db);
    std::vector<std::string> lines;
    // Calls that differ in the graph alone become one.
    std::vector<std::pair<std::string, std::string>> joined;
    for (const auto& [call, asked] : calls_) {
        std::string options;
        if (call.counters) {
            for (const std::string& v : asked.variants) options.append(" --config ").append(v);
        } else {
            options.append(" --op ").append(to_text(call.op));
        }
        Problem wide{call.op, 2};
        if (normalised(wide).k != 1) {
            options += " --dim " + comma_list(asked.widths, [](std::int32_t k) { return std::to_string(k); });
        }
        if (call.heads != 1) options += " --heads " + std::to_string(call.heads);
        if (call.reduce != Reduce::sum) options += " --reduce " + std::string(to_text(call.reduce));
        if (!call.weighted) options += " --weights no";
        if (call.self_loop) options += " --self-loop yes";
        if (asked.directions.size() > 1)
            options += " --direction both";
        else if (*asked.directions.begin() == Direction::reversed)
            options += " --direction reversed";
        if (!call.counters && !asked.every_variant) {
            options += " --variant " + comma_list(asked.variants, [](const std::string& v) { return v; });
        }
        bool found = false;
        for (auto& [known, files] : joined) {
            if (known != options) continue;
            files += ' ';
            files += call.file;
            found = true;
        }
        if (!found) joined.emplace_back(options, call.file);
    }
    for (const auto& [options, files] : joined) {
        const bool counters = options.starts_with(" --config");
        const std::string tune = "gnntune tune " + files + options + " --exhaustive";
        lines.push_back((counters ? "gnntune profile " + files + options : tune) + database);
    }
    for (const auto& [command, files] : graphs_) {
        std::string line = command;
        for (const std::string& file : files) line.append(1, ' ').append(file);
        lines.push_back(line + database);
    }
    return lines;
}

}  // namespace gnntune::tools::paper
