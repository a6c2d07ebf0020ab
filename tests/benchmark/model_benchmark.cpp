// Host time of asking a shipped cost model about every config of a problem: what `plan` takes where nothing was
// measured, once the graph's features are known. Needs a build with CUDA, whose variants the models know; no GPU.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "core/dispatch/advise.hpp"
#include "core/generate/generate.hpp"
#include "core/ops/arrays.hpp"
#include "kernels/register_all.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tuner/training.hpp"

namespace gnntune {
namespace {

const Registry& registry() {
    static const Registry* made = [] {
        auto* r = new Registry;
        register_all(*r);
        return r;
    }();
    return *made;
}

/// Features of graphs of many sizes and degrees: asked about in turns, so that no cache and no branch predictor has
/// seen the same question a moment ago, as when an application plans for a new graph.
const std::vector<Features>& graphs() {
    static const auto made = [] {
        std::vector<Features> out;
        for (const char* kind : {"uniform", "power_law"}) {
            for (const std::int64_t rows : {500, 2000, 8000, 32000}) {
                for (const std::int64_t degree : {1, 2, 4, 8, 16, 32, 64, 128}) {
                    if (rows * degree > 500000) continue;
                    const CsrGraph graph = generate::generate(
                        {"", kind, {{"n_rows", std::to_string(rows)}, {"m", std::to_string(rows * degree)}}, 1, ""});
                    out.push_back(features_of(graph.view()));
                }
            }
        }
        return out;
    }();
    return made;
}

/// A model's answer for one problem, on one graph after another.
struct Asked {
    std::shared_ptr<const model::Model> model;
    std::shared_ptr<const Device> device;
    DeviceConstants constants;
    Problem problem;

    Query query(const Features& f) const {
        return {problem, f.counts.n_rows, f.counts.n_cols, f.counts.m, &f, device.get()};
    }

    void operator()(benchmark::State& state) const {
        const Prospects prospects(*model, registry(), query(graphs().front()));
        std::size_t next = 0;
        std::size_t configs = 0;
        for (auto _ : state) {
            const Advice advice =
                advise(*model, prospects, registry(), query(graphs()[next++ % graphs().size()]), constants, {});
            configs = advice.asked;
            benchmark::DoNotOptimize(advice.better.data());
        }
        state.counters["configs"] = static_cast<double>(configs);
    }
};

void add_model(const store::Store& store, const store::ModelRow& row, const Environment& environment) {
    const auto device = std::make_shared<const Device>(tuner::device_of(environment));
    const auto fitted = std::make_shared<const model::Model>(model::from_bytes(row.bytes));
    const DeviceConstants constants = store::constants_of_layers(store, environment);
    for (const std::int32_t width : {16, 64, 256}) {
        const bool attention = forward_of(row.op) == Op::gat || forward_of(row.op) == Op::agnn;
        Problem problem;
        problem.op = row.op;
        problem.k = attention ? 8 : width;
        problem.heads = attention ? width / 8 : 1;
        problem.weighted = forward_of(row.op) == Op::spmm;
        const std::string name = "model/" + std::string(to_text(row.op)) + "/" + std::string(to_text(row.policy)) +
                                 "/" + std::to_string(width);
        benchmark::RegisterBenchmark(name.c_str(), Asked{fitted, device, constants, problem})
            ->Unit(benchmark::kMicrosecond);
    }
}

}  // namespace
}  // namespace gnntune

int main(int argc, char** argv) {
    using namespace gnntune;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    for (const auto& path : store::shipped_databases()) {
        const store::Store store = store::Store::open(path, store::Mode::read_only);
        for (const store::ModelRow& row : store.models()) {
            if (row.backend != Backend::cuda || !model::is_readable(row.feature_version)) continue;
            add_model(store, row, store.environments().front().environment);
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
