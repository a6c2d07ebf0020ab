// gnntune generate: synthetic graphs and stand-ins. The parameters of a kind are its options.
#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/output_file.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/write_graph.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kGenerateUsage = "gnntune generate [options] KIND|standin/NAME -o FILE";

const generate::KindInfo* find_kind(std::string_view name) {
    for (const auto& kind : generate::generator_kinds()) {
        if (kind.name == name) return &kind;
    }
    return nullptr;
}

/// n_rows -> n-rows
std::string option_name(std::string parameter) {
    std::replace(parameter.begin(), parameter.end(), '_', '-');
    return parameter;
}

/// The options depend on the kind, so that it has to be known before they are parsed.
const generate::KindInfo* kind_among(const Args& args) {
    for (const std::string& word : args) {
        if (const auto* kind = find_kind(word)) return kind;
    }
    return nullptr;
}

Error no_such_kind(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& k : generate::generator_kinds()) known.push_back(k.name);
    return invalid_argument(fmt::format("there is no kind '{}' among {} and standin/NAME{}", name, joined(known),
                                        did_you_mean(name, known)));
}

/// `gnntune help generate KIND`: the general help says nothing of a kind that does not exist.
void require_kind_of_help(const Args& args) {
    if (args.size() != 2 || args.back() != "--help" || args.front().starts_with("-")) return;
    if (!args.front().starts_with(kStandinPrefix) && !find_kind(args.front())) throw no_such_kind(args.front());
}

void add_parameters(Options& options, const generate::KindInfo& kind) {
    auto& group = options.group("Parameters of " + kind.name + " (" + kind.help + ")");
    for (const auto& parameter : kind.parameters) {
        std::string help = parameter.help;
        if (!parameter.default_value.empty()) help += " (default: " + parameter.default_value + ")";
        const char* shape = parameter.type == generate::ParameterType::boolean ? "yes|no"
                            : parameter.type == generate::ParameterType::text  ? "TEXT"
                                                                               : "N";
        group.add_options()(option_name(parameter.name).c_str(), value(shape), help.c_str());
    }
}

/// Adds the words of --set, "n_rows=1000,m=5000".
void add_set(generate::Recipe& recipe, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
        // Values of quantiles hold blanks and colons, never commas.
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(',', begin), text.size());
            const std::string word = text.substr(begin, end - begin);
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos || equals == 0) {
                throw invalid_argument(fmt::format("--set: expected parameter=value, not '{}'", word));
            }
            recipe.params.emplace_back(word.substr(0, equals), word.substr(equals + 1));
            begin = end + 1;
        }
    }
}

generate::Recipe recipe_of(const Parsed& parsed, const generate::KindInfo* kind) {
    const std::string& name = parsed.arguments.front();
    if (name.starts_with(kStandinPrefix)) {
        if (parsed.given("set") || parsed.given("seed")) {
            throw invalid_argument(fmt::format(
                "{}: a stand-in is its recipe and seed; use its kind to change them (gnntune list standins)", name));
        }
        return generate::standin(name);
    }
    if (!kind || kind->name != name) throw no_such_kind(name);
    generate::Recipe recipe;
    recipe.kind = kind->name;
    recipe.seed = parsed.common.seed;
    add_set(recipe, parsed.repeated("set"));
    for (const auto& parameter : kind->parameters) {
        const auto typed = parsed.find(option_name(parameter.name));
        if (!typed) continue;
        const auto is_this = [&](const auto& p) { return p.first == parameter.name; };
        if (std::any_of(recipe.params.begin(), recipe.params.end(), is_this)) {
            throw invalid_argument(
                fmt::format("{} is given twice, with --set and --{}", parameter.name, option_name(parameter.name)));
        }
        recipe.params.emplace_back(parameter.name, *typed);
    }
    recipe.name = kind->name;
    return recipe;
}

int list_kinds(Output& out) {
    Table table({{"kind", "kind", ""}, {"parameters", "parameters", ""}, {"help", "meaning", ""}});
    for (const auto& kind : generate::generator_kinds()) {
        std::vector<std::string> names;
        for (const auto& parameter : kind.parameters) names.push_back("--" + option_name(parameter.name));
        table.add({kind.name, joined(names, " "), kind.help});
    }
    out.print(table);
    out.note("`gnntune help generate KIND` describes the parameters, `gnntune list standins` names the stand-ins");
    return kExitOk;
}

}  // namespace

int run_generate(const Args& args) {
    require_kind_of_help(args);
    const generate::KindInfo* kind = kind_among(args);
    Options options("generate",
                    {kGenerateUsage,
                     "Makes a synthetic graph, the same on any machine for the same seed. The parameters of a "
                     "kind are its options: `gnntune help generate KIND` shows them.",
                     {"gnntune generate rmat --scale 16 --m 1000000 -o rmat.gnng",
                      "gnntune generate uniform --set n_rows=1000,m=5000 --seed 7 -o small.mtx",
                      "gnntune generate standin/ogbn_arxiv -o standin-ogbn_arxiv.gnng", "gnntune generate --list"}});
    // clang-format off
    options.group("Generation").add_options()
        ("output,o", value("FILE"), "file to write")
        ("to", value("FORMAT"), "mtx, edges, npz, metis or gnng (default: by the name of FILE)")
        ("set", values("NAME=VALUE,..."), "parameters of the kind, another way to write them")
        ("list", boost::program_options::bool_switch(), "list the kinds");
    // clang-format on
    if (kind) add_parameters(options, *kind);
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;

    Output out("generate", parsed->common);
    if (parsed->flag("list")) {
        if (!parsed->arguments.empty() || parsed->given("output") || parsed->given("to") || parsed->given("set")) {
            throw invalid_argument("--list makes no graph: give it alone, or leave it out");
        }
        return list_kinds(out);
    }
    require_arguments(*parsed, 1, 1, kGenerateUsage);
    const generate::Recipe recipe = recipe_of(*parsed, kind);
    const auto path = parsed->find("output");
    if (!path) throw invalid_argument(std::string("-o FILE is missing; usage: ") + kGenerateUsage);
    const io::Format format = output_format(*path, *parsed);
    require_no_database(*path, parsed->common);
    out.note(generate::text(recipe));
    write_and_report(*path, format, generate::generate(recipe), recipe.name, out);
    // A file's name is what every table shows: a stand-in must not pass for the real graph.
    const bool labelled = path->find("standin") != std::string::npos || path->find("stand-in") != std::string::npos;
    if (recipe.name.starts_with(kStandinPrefix) && !labelled) {
        out.warn(*path + " is a stand-in and its name does not say so: tables will show it as if it were real");
    }
    return kExitOk;
}

}  // namespace gnntune::tools
