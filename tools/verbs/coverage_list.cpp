#include "tools/verbs/coverage_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/common/error.hpp"
#include "core/ops/legal.hpp"
#include "core/registry/device.hpp"
#include "core/registry/typical.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/typical.hpp"
#include "tools/verbs/coverage_tables.hpp"

namespace gnntune::tools {
namespace {

using tuner::Coverage;

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& numbers) {
    return {numbers.begin(), numbers.end()};
}

/// Of --device, which need not be here.
Device device_listed(const Parsed& parsed) {
    const auto backend = backend_named(parsed);
    return backend ? typical_device(*backend) : parsed.common.device(DatabaseUse::errata);
}

}  // namespace

std::vector<Problem> coverage_problems(const Parsed& parsed) {
    const auto widths = narrow(parsed.integers("dim", 1, 1 << 20));
    const auto heads = narrow(parsed.integers("heads", 1, 1 << 16));
    return legal_problems(parsed.ops("op"), widths, heads);
}

tuner::CoverageDemands coverage_demands(const Parsed& parsed, Backend backend) {
    tuner::CoverageDemands demands{backend, {}};
    const auto kinds = tuner::coverage_kinds();
    for (const std::string& word : parsed.list("bound")) {
        const std::size_t equals = word.find('=');
        const std::string kind = word.substr(0, equals);
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end() || equals == std::string::npos) {
            throw invalid_argument(fmt::format("--bound: expected KIND=RATIO with a kind of {}, not '{}'{}",
                                               joined(kinds), word, did_you_mean(kind, kinds)));
        }
        demands.bounds[kind] = parse_real(word.substr(equals + 1), "--bound " + kind, 0, 1e9);
    }
    return demands;
}

int list_coverage(const Parsed& parsed) {
    Output out("coverage", parsed.common);
    const Device device = device_listed(parsed);
    const auto demands = coverage_demands(parsed, device.backend);
    const auto shown = shown_verdicts(parsed, out);
    const auto asked = coverage_problems(parsed);
    std::vector<ListedProblem> listed;
    std::size_t missing = 0;
    std::size_t failing = 0;
    const auto look = [&](const std::string& graph, const Query& query) {
        if (!defined_on(query.problem, query.n_rows, query.n_cols)) return;
        auto found = tuner::exact_variants(registry(), query);
        ListedProblem p;
        p.outcome.graph = graph;
        p.outcome.problem = query.problem;
        p.outcome.what = found.variants.empty() ? Coverage::no_variant : Coverage::left_out;
        if (found.variants.empty()) p.outcome.reason = found.refusals_text();
        missing += found.variants.empty() ? 1 : 0;
        failing += found.variants.empty() && demands.must(query.problem) ? 1 : 0;
        p.variants = std::move(found.variants);
        listed.push_back(std::move(p));
    };
    bool all_read = true;
    if (parsed.arguments.empty()) {
        for (const Problem& problem : asked) look("any", typical_query(problem, device));
    } else {
        GraphReader graphs(parsed, out);
        while (const auto input = graphs.next()) {
            Features features;
            if (!graphs.hold([&] { features = features_of(input->graph.view()); })) continue;
            const FeatureCounts& c = features.counts;
            for (const Problem& problem : asked) {
                const bool reversed = problem.direction == Direction::reversed;
                look(input->name, {problem, reversed ? c.n_cols : c.n_rows, reversed ? c.n_rows : c.n_cols, c.m,
                                   &features, &device});
            }
        }
        all_read = graphs.all_read();
    }
    if (!built_with_cuda() && device.backend == Backend::cuda) {
        out.note("this build has no variants for GPUs: build it with nvcc (a GPU is not needed)");
    }
    print_coverage_list(out, listed, demands, shown);
    out.note(fmt::format("{} legal problems for {}, {} without a variant, {} of them fail", listed.size(),
                         to_text(device.backend), missing, failing));
    if (failing > 0) return kExitRuntime;
    return all_read ? kExitOk : kExitInput;
}

}  // namespace gnntune::tools
