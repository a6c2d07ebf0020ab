// Tuning a small graph into a store on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {

class TuneTest : public store::StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        register_all(registry_);
        // Square and directed, with an edge that stands twice and one in the last row and column.
        test::EdgeList edges = test::random_edges(40, 40, 300, 1, 3);
        edges.insert(edges.end(), {{5, 7}, {5, 7}, {39, 39}});
        csr_ = test::csr_of(40, 40, edges);
        sort_columns(csr_);
        options_.clocks = {Clock::host};
        options_.measuring.min_samples = 5;
        options_.measuring.max_samples = 5;
        options_.exhaustive = true;
    }

    /// Tunes for the options' problems; `stop` ends it early.
    bool tune(store::Store& store, const std::function<bool()>& stop = {}) {
        GraphWorkload graph(registry_, cpu_device(), csr_);
        record_ = {graph.graph().fingerprint(), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        TuneEvents events;
        events.stop = stop;
        const std::int64_t run = store.begin_run(run_info());
        const bool complete = Tuner(registry_, cpu_device(), store).tune(graph, record_, options_, run, events);
        store.end_run(run);
        return complete;
    }
    store::Key key(store::Store& store, const Problem& problem) {
        return {store.graph_id(record_), store.environment_id(cpu_device().environment), store.problem_id(problem)};
    }
    static Problem spmm(Direction direction, std::int32_t k = 33) {
        return {Op::spmm, k, 1, DType::f32, Reduce::sum, true, direction};
    }

    Registry registry_;
    CsrGraph csr_;
    GraphRecord record_;
    TuneOptions options_;
};

}  // namespace gnntune::tuner
