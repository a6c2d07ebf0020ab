// Which configs of a variant are tried, and whether its record agrees with itself.
#include <algorithm>
#include <set>

#include "core/dispatch/plan.hpp"
#include "tests/conformance/harness.hpp"

namespace gnntune::conformance {
namespace {

// For every part of a composition, each variant that the part may be: the rest of the params as in `standard`.
void add_parts(const Graph& graph, const Variant& variant, const Query& query, const Params& standard,
               std::vector<Params>& out) {
    for (const Part& part : variant.parts(query)) {
        const Query inner = graph.query(part.problem);
        for (const Variant& v : graph.registry().variants()) {
            // A plan refuses parts that give another answer than the composition promises.
            if (!may_be_part(v, variant) || !graph.registry().applicable(v, inner)) continue;
            Params params;
            for (const auto& [name, value] : standard.values()) {
                params.set(name, name == part.param ? Config{v.id, v.default_params(inner)}.text() : value);
            }
            out.push_back(std::move(params));
        }
    }
}

// What is searched of a graph of which nothing is known; where none of that is, what would be without self loops. What a
// search leaves out may be launched all the same.
std::vector<Params> space_of(const Variant& variant, const Query& query) {
    Query unknown = query;
    unknown.features = nullptr;
    std::vector<Params> space = variant.space(unknown);
    if (space.empty()) {
        unknown.problem.self_loop = false;
        space = variant.space(unknown);
    }
    for (Params& p : variant.space(query)) {
        if (std::find(space.begin(), space.end(), p) == space.end()) space.push_back(std::move(p));
    }
    std::erase_if(space, [&](const Params& p) { return !variant.valid(query, p); });
    return space;
}

}  // namespace

std::vector<Params> corners(const Graph& graph, const Variant& variant, const Query& query) {
    const auto space = space_of(variant, query);
    std::vector<Params> out{variant.default_params(query)};
    // Every part at three widths; the standard parts at all.
    const std::int32_t k = query.problem.k;
    if (variant.parts && scope() != Scope::once && (k == 3 || k == 7 || k == 33))
        add_parts(graph, variant, query, Params(out.front()), out);
    if (space.size() <= 12) {
        for (const auto& p : space) {
            if (!(p == out.front())) out.push_back(p);
        }
        return out;
    }
    std::set<std::string> seen;
    const auto note = [&](const Params& p) {
        bool fresh = false;
        for (const auto& [name, value] : p.values()) fresh = seen.insert(name + "=" + value).second || fresh;
        return fresh;
    };
    note(out.front());
    for (const auto& p : space) {
        if (note(p)) out.push_back(p);
    }
    return out;
}

std::vector<Failure> check_record(const Registry& registry, const Variant& v, const Query& query) {
    std::vector<Failure> failures;
    const auto fail = [&](const std::string& detail) {
        failures.push_back({"record", std::string(v.id) + " on " + to_text(query.problem) + ": " + detail});
    };
    const Verdict verdict = registry.applicable(v, query);
    if (!verdict) {
        if (verdict.reason.empty()) fail("refuses without a reason");
        return failures;
    }
    const auto space = space_of(v, query);
    const Params standard = v.default_params(query);
    if (!v.valid(query, standard))
        fail("the default {" + standard.text() + "} is not valid: " + v.valid(query, standard).reason);
    if (std::find(space.begin(), space.end(), standard) == space.end()) fail("the default is not in the space");
    const auto searched = v.space(query);
    if (!searched.empty() && std::find(searched.begin(), searched.end(), standard) == searched.end())
        fail("the default is not among what is searched");
    Query unknown = query;
    unknown.features = nullptr;
    const auto unknown_space = v.space(unknown);
    for (const Params& p : searched) {
        if (!v.valid(query, p)) fail("{" + p.text() + "} is searched but not valid");
        if (v.searched && !v.searched(query, p)) fail("{" + p.text() + "} is in the space and not searched");
        // Whoever lists params or asks a model about any graph has no features.
        if (std::find(unknown_space.begin(), unknown_space.end(), p) == unknown_space.end()) {
            fail("{" + p.text() + "} is searched, but not without features");
        }
    }
    for (const Params& p : space) {
        if (!(Params::parse(p.text()) == p)) fail("{" + p.text() + "} does not survive its text form");
    }
    if (v.valid(query, Params{{"no_such_param", "1"}})) fail("accepts a param that it does not have");
    return failures;
}

}  // namespace gnntune::conformance
