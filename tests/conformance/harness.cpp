#include "tests/conformance/harness.hpp"

#include <set>

#include "tests/conformance/config_checker.hpp"
#include "tests/conformance/fixture.hpp"

namespace gnntune::conformance {

Outcome run_case(const Registry& registry, const Device& device, const Variant& variant, const GraphCase& graph,
                 const std::vector<Problem>& all) {
    Outcome outcome;
    Fixture fixture(registry, device, graph);
    for (const Problem& problem : all) {
        const Query query = fixture.graph().query(problem);
        const auto record = check_record(registry, variant, query);
        outcome.failures.insert(outcome.failures.end(), record.begin(), record.end());
        if (!record.empty() || !registry.applicable(variant, query)) continue;
        try {
            ConfigChecker checker(device, fixture, problem, outcome.failures);
            for (const Params& params : corners(fixture.graph(), variant, query)) {
                if (checker.check({variant.id, params})) ++outcome.configs;
            }
        } catch (const std::exception& e) {
            outcome.failures.push_back({"runs", std::string(variant.id) + " on " + to_text(problem) + ": " + e.what()});
            return outcome;
        }
    }
    return outcome;
}

Outcome run_case(const Registry& registry, const Device& device, const Variant& variant, const GraphCase& graph) {
    std::vector<Problem> all = problems(variant.op, graph);
    // How a CPU kernel cuts a long row does not depend on the width, which the small graphs cross up to 602.
    if (device.backend == Backend::cpu && graph.large) std::erase_if(all, [](const Problem& p) { return p.k > 64; });
    return run_case(registry, device, variant, graph, all);
}

std::vector<Failure> check_executes(const Registry& registry, const Device& device, const Variant& variant) {
    std::set<std::string> reasons;
    std::vector<Failure> failures;
    for (const std::string& name : graph_names()) {
        const GraphCase& graph = graph_case(name);
        if (graph.edges.m() == 0) continue;
        Fixture fixture(registry, device, graph);
        for (const Problem& problem : problems(variant.op, graph)) {
            const Query query = fixture.graph().query(problem);
            const Verdict verdict = registry.applicable(variant, query);
            if (!verdict) {
                reasons.insert(verdict.reason);
                continue;
            }
            try {
                if (ConfigChecker(device, fixture, problem, failures).runs({variant.id, variant.default_params(query)}))
                    return {};
                reasons.insert("its default was refused once the degrees were known");
            } catch (const std::exception& e) {
                reasons.insert(e.what());
            }
        }
    }
    std::string text = std::string(variant.id) + " ran on none of the graphs that have edges:";
    for (const std::string& reason : reasons) text += " \"" + reason + "\"";
    failures.push_back({"executes", text});
    return failures;
}

}  // namespace gnntune::conformance
