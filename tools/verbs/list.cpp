// gnntune list: what this build has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <variant>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"
#include "core/ops/legal.hpp"
#include "core/ops/op_record.hpp"
#include "core/registry/device.hpp"
#include "core/registry/typical.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/typical.hpp"

namespace gnntune::tools {
namespace {

/// Widths that together bring out every value of a param: powers of two, an odd one, an even one.
constexpr std::array<std::int32_t, 7> kListedWidths{1, 16, 33, 50, 64, 128, 256};
constexpr std::int32_t kTypicalWidth = 64;

constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16};

/// Problems of the variant's op that there are, of every kind.
std::vector<Problem> kinds_of_problems(Op op) {
    constexpr std::int32_t kWidth[] = {kTypicalWidth};
    constexpr std::int32_t kHeadsOfKinds[] = {1, 2};
    return legal_problems(std::array{op}, kWidth, kHeadsOfKinds);
}

/// "sum|mean": of the values that the field has in problems of the op those that the variant takes; nothing if they
/// have one value only, which says nothing of the variant.
template <typename E>
Cell taken(const Variant& v, const std::vector<Problem>& problems, std::span<const E> every, E Problem::*field) {
    std::size_t there = 0;
    std::vector<std::string> words;
    for (const E value : every) {
        const auto has = [&](const Problem& p) { return p.*field == value; };
        const auto takes = [&](const Problem& p) { return has(p) && lacking(v.can, p).empty(); };
        there += std::any_of(problems.begin(), problems.end(), has) ? 1 : 0;
        if (std::any_of(problems.begin(), problems.end(), takes)) words.emplace_back(to_text(value));
    }
    return there > 1 ? Cell(joined(words, "|")) : Cell();
}

/// "yes", "no", or "only" for what some problems of the op have and others have not; nothing if all or none have it.
Cell taken(const Variant& v, const std::vector<Problem>& problems, const std::function<bool(const Problem&)>& has) {
    bool there[2] = {false, false};
    bool takes[2] = {false, false};
    for (const Problem& p : problems) {
        there[has(p)] = true;
        takes[has(p)] = takes[has(p)] || lacking(v.can, p).empty();
    }
    if (!there[0] || !there[1]) return Cell();
    return std::string(!takes[1] ? "no" : takes[0] ? "yes" : "only");
}

/// What the variant can do, a cell for each column of the matrix.
std::vector<Cell> capability(const Variant& v) {
    const auto problems = kinds_of_problems(v.op);
    Cell storage = taken(v, problems, every_dtype(), &Problem::dtype);
    if (std::holds_alternative<std::monostate>(storage)) storage = std::string(to_text(problems.front().dtype));
    return {std::move(storage),
            taken(v, problems, every_reduce(), &Problem::reduce),
            taken(v, problems, [](const Problem& p) { return p.weighted; }),
            taken(v, problems, [](const Problem& p) { return p.self_loop; }),
            taken(v, problems, [](const Problem& p) { return p.heads > 1; }),
            taken(v, problems, every_direction(), &Problem::direction)};
}

/// "lanes=1|2|4 vec=1|2": every value that occurs, in the order of first appearance; numbers ascending.
std::string params_text(const Variant& variant, const Device& device) {
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    const auto take = [&](const Params& params) {
        for (const auto& [name, value] : params.values()) {
            auto place = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.first == name; });
            if (place == found.end()) place = found.insert(found.end(), {name, {}});
            auto& values = place->second;
            if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
        }
    };
    for (const std::int32_t k : kListedWidths) {
        for (const DType dtype : kDTypes) {
            const auto query = possible_query(variant, k, dtype, device);
            if (!query) continue;
            for (const Params& params : variant.space(*query)) take(params);
        }
    }
    std::vector<std::string> words;
    for (auto& [name, values] : found) {
        const auto is_number = [](const std::string& v) { return v.find_first_not_of("0123456789") == v.npos; };
        if (std::all_of(values.begin(), values.end(), is_number)) {
            std::sort(values.begin(), values.end(),
                      [](const auto& a, const auto& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
        }
        words.push_back(name + "=" + joined(values, "|"));
    }
    return joined(words, " ");
}

Table variants(const Parsed& parsed) {
    const std::vector<Op> ops = parsed.ops("op");
    const auto backend = backend_named(parsed);
    Table table({{"id", "variant", ""},
                 {"op", "op", ""},
                 {"backend", "backend", ""},
                 {"version", "version", ""},
                 {"storage", "storage", ""},
                 {"reduce", "reduce", ""},
                 {"weights", "weights", ""},
                 {"self_loops", "self loops", ""},
                 {"heads", "heads", ""},
                 {"direction", "direction", ""},
                 {"precision", "precision", ""},
                 {"answer", "answer", ""},
                 {"deterministic", "deterministic", ""},
                 {"configs", fmt::format("configs (k={})", kTypicalWidth), ""},
                 {"default_params", "default params", "", 0, false},
                 {"params", "params", ""},
                 {"summary", "summary", ""}});
    for (const Variant& v : registry().variants()) {
        if (!ops.empty() && std::find(ops.begin(), ops.end(), v.op) == ops.end()) continue;
        if (backend && v.backend != *backend) continue;
        const Device device = typical_device(v.backend);
        std::vector<Cell> cells{std::string(v.id), std::string(to_text(v.op)), std::string(to_text(v.backend)),
                                std::int64_t{v.version}};
        for (Cell& cell : capability(v)) cells.push_back(std::move(cell));
        cells.emplace_back(std::string(to_text(v.precision)));
        cells.emplace_back(std::string(v.approximate || v.precision != Precision::fp32 ? "approximate" : "exact"));
        if (const auto query = possible_query(v, kTypicalWidth, device)) {
            const Params defaults = v.default_params(*query);
            cells.emplace_back(v.deterministic(defaults));
            cells.emplace_back(static_cast<std::int64_t>(v.space(*query).size()));
            cells.emplace_back(defaults.text());
        } else {
            cells.insert(cells.end(), 3, Cell());
        }
        cells.emplace_back(params_text(v, device));
        cells.emplace_back(std::string(v.summary));
        table.add(std::move(cells));
    }
    return table;
}

Table ops() {
    Table table({{"op", "op", ""},
                 {"cpu_variants", "cpu variants", ""},
                 {"cuda_variants", "cuda variants", ""},
                 {"meaning", "meaning", ""}});
    for (const Op op : every_op()) {
        std::int64_t counts[2] = {0, 0};
        for (const Variant& v : registry().variants()) counts[v.backend == Backend::cuda] += v.op == op;
        table.add({std::string(to_text(op)), counts[0], counts[1], std::string(record_of(op).meaning)});
    }
    return table;
}

Table formats() {
    Table table({{"format", "format", ""},
                 {"suffixes", "suffixes", ""},
                 {"written", "written", ""},
                 {"entry", "an entry a b means", ""},
                 {"description", "description", ""}});
    const auto add = [&table](const char* name, const char* suffixes, bool written, const char* entry,
                              const char* description) {
        table.add({std::string(name), std::string(suffixes), written, std::string(entry), std::string(description)});
    };
    add("mtx", ".mtx", true, "row a, column b", "Matrix Market coordinate");
    add("edges", ".txt .el .edges .tsv .csv", true, "row b, column a",
        "edge list: source target [weight], or as a line of names says");
    add("npz", ".npz .npy", true, "by its arrays",
        "NumPy: scipy CSR/CSC/COO, edge_index, edges, src and dst (src_li and dst_li)");
    add("tu", "_A.txt", false, "row b, column a", "TU data set: a folder with <name>_A.txt");
    add("metis", ".graph .metis", true, "both", "METIS adjacency, undirected");
    add("gnng", ".gnng", true, "row a, column b", "gnntune's own: CSR arrays, read at disk speed");
    return table;
}

Table generators() {
    Table table(
        {{"kind", "kind", ""}, {"parameter", "parameter", ""}, {"default", "default", ""}, {"help", "meaning", ""}});
    for (const auto& kind : generate::generator_kinds()) {
        table.add({kind.name, {}, {}, kind.help}, Style::bold);
        for (const auto& p : kind.parameters) table.add({kind.name, p.name, p.default_value, p.help});
    }
    return table;
}

Table standins() {
    Table table({{"name", "name", ""}, {"recipe", "recipe", ""}, {"source", "source of the figures", ""}});
    for (const std::string& name : generate::standin_names()) {
        const generate::Recipe recipe = generate::standin(name);
        table.add({recipe.name, generate::text(recipe), recipe.source});
    }
    return table;
}

}  // namespace

int run_list(const Args& args) {
    constexpr const char* kUsage = "gnntune list [options] [variants|ops|formats|generators|standins]";
    Options options(
        "list",
        {kUsage,
         "Lists what this build has: variants (the default) with what each can do, ops, formats of graph "
         "files, generators and stand-ins. Params are shown with every value they may take; which of them are legal "
         "depends on the problem.",
         {"gnntune list", "gnntune list --op spmm --json", "gnntune list standins"}});
    options.group("Choice").add_options()("op", value("OP,..."), "variants of these ops only");
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 1, kUsage);
    const std::string what = parsed->arguments.empty() ? "variants" : parsed->arguments.front();
    for (const char* option : {"op", "device"}) {
        if (!parsed->given(option) || what == "variants") continue;
        throw invalid_argument(std::string("--") + option + " applies to gnntune list variants only");
    }

    Output out("list", parsed->common);
    if (what == "variants") {
        if (!built_with_cuda() && backend_named(*parsed) == Backend::cuda) {
            out.note("this build has no variants for GPUs: build it with nvcc (a GPU is not needed)");
        }
        out.print(variants(*parsed));
    } else if (what == "ops") {
        out.print(ops());
    } else if (what == "formats") {
        out.print(formats());
    } else if (what == "generators") {
        out.print(generators());
    } else if (what == "standins") {
        out.print(standins());
    } else {
        const std::vector<std::string> known{"variants", "ops", "formats", "generators", "standins"};
        const std::string meant = did_you_mean(what, known);
        throw invalid_argument(
            fmt::format("there is no list of '{}'{}", what, meant.empty() ? "; there are " + joined(known) : meant));
    }
    return kExitOk;
}

}  // namespace gnntune::tools
