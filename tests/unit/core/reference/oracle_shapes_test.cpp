// Oracles on graphs of every shape: each problem is computed in the sizes that arrays_of() lists, or refused before
// anything is read. Arrays have no element to spare, so that a sanitizer sees what is read past their ends.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/ops/inputs.hpp"
#include "core/ops/op_record.hpp"
#include "core/ops/oracles.hpp"
#include "core/registry/registry.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

std::vector<Problem> problems_of_every_op() {
    std::vector<Problem> all;
    for (const Op op : every_op()) {
        for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::max}) {
            for (const bool weighted : {false, true}) {
                for (const bool self_loop : {false, true}) {
                    Problem p;
                    p.op = op;
                    p.k = 3;
                    p.heads = 2;
                    p.reduce = reduce;
                    p.weighted = weighted;
                    p.self_loop = self_loop;
                    const bool possible = !(reduce == Reduce::max && self_loop);
                    if (possible && normalised(p) == p) all.push_back(p);
                    p.heads = 1;
                    if (possible && normalised(p) == p) all.push_back(p);
                    p.k = 1;
                    if (possible && normalised(p) == p) all.push_back(p);
                }
            }
        }
    }
    return all;
}

std::vector<test::NamedGraph> shapes_of_graphs() {
    using test::csr_of;
    using test::random_edges;
    std::vector<test::NamedGraph> graphs;
    graphs.push_back({"tall", csr_of(90, 3, random_edges(90, 3, 40, 1, 1))});
    graphs.push_back({"wide", csr_of(3, 90, random_edges(3, 90, 40, 1, 2))});
    graphs.push_back({"tall, one edge", csr_of(60000, 3, {{0, 0}})});
    graphs.push_back({"no columns", csr_of(5, 0, {})});
    graphs.push_back({"no rows", csr_of(0, 5, {})});
    graphs.push_back({"nothing", csr_of(0, 0, {})});
    graphs.push_back({"square", csr_of(7, 7, random_edges(7, 7, 20, 1, 3))});
    return graphs;
}

Query query_on(const CsrGraph& graph, const Problem& problem, const Device& device) {
    Query query;
    query.problem = problem;
    query.n_rows = graph.n_rows;
    query.n_cols = graph.n_cols;
    query.m = graph.m();
    query.device = &device;
    return query;
}

reference::Inputs inputs_of(const Query& query, const CsrGraph& graph) {
    return {query, graph.view(), nullptr,
            [](const ArraySpec& spec, std::size_t) {
                return HostVector<float>(static_cast<std::size_t>(spec.size()), 0.5F);
            },
            Operands{}};
}

TEST(OracleShapes, EveryProblemIsComputedOrRefusedOnEveryShape) {
    const Device device = cpu_device();
    int computed = 0;
    int refused = 0;
    for (const auto& [name, graph] : shapes_of_graphs()) {
        for (const Problem& problem : problems_of_every_op()) {
            SCOPED_TRACE(name + ", " + to_text(problem));
            const Query query = query_on(graph, problem, device);
            const bool square = graph.n_rows == graph.n_cols;
            const bool needs_square = problem.self_loop || record_of(problem.op).square;
            EXPECT_EQ(static_cast<bool>(defined_on(problem, graph.n_rows, graph.n_cols)), square || !needs_square);
            if (needs_square && !square) {
                Operands none;  // a refusal looks at no array
                try {
                    (void)reference::oracles(problem, graph.view(), nullptr, none);
                    FAIL() << "computed";
                } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
                    EXPECT_NE(std::string(error.what()).find("need a square graph"), std::string::npos);
                }
                ++refused;
                continue;
            }
            const reference::Inputs inputs = inputs_of(query, graph);
            const auto oracles = reference::oracles(problem, graph.view(), nullptr, inputs.operands());
            std::size_t number = 0;
            for (const ArraySpec& spec : arrays_of(query)) {
                if (spec.is_input()) continue;
                EXPECT_EQ(oracles.at(number++).size(), spec.size()) << spec.name;
            }
            EXPECT_EQ(number, oracles.size());
            ++computed;
        }
    }
    EXPECT_GT(computed, 100);
    EXPECT_GT(refused, 20);
}

TEST(OracleShapes, NoVariantTakesWhatHasNoOracle) {
    Registry registry;
    register_all(registry);
    Device device = cpu_device();
    device.compute_capability = 100;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        device.backend = backend;
        for (const auto& [name, graph] : shapes_of_graphs()) {
            for (const Problem& problem : problems_of_every_op()) {
                if (defined_on(problem, graph.n_rows, graph.n_cols)) continue;
                const Query query = query_on(graph, problem, device);
                for (const Variant& v : registry.variants()) {
                    EXPECT_FALSE(registry.applicable(v, query)) << v.id << " on " << name << ", " << to_text(problem);
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnntune
