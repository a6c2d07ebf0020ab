#include "tools/verbs/time_sentinels.hpp"

#include <algorithm>
#include <string>

#include "core/generate/generate.hpp"
#include "tools/common/program.hpp"
#include "tuner/clocks.hpp"
#include "tuner/measuring/measure.hpp"

namespace gnntune::tools {
namespace {

struct Size {
    double shard::Sentinels::*us;
    std::int64_t n;
    std::int64_t m;
    std::int32_t k;
};

// Features of 64 KB, 10 MB and 256 MB; an L2 of today has 40 to 126 MB.
constexpr Size kOfGpu[] = {{&shard::Sentinels::launch_us, 1000, 4000, 16},
                           {&shard::Sentinels::cache_us, 40'000, 800'000, 64},
                           {&shard::Sentinels::memory_us, 500'000, 2'000'000, 128}};
// A processor has a cache of its own for each core, and no time to lose: 32 KB, 256 KB, 13 MB.
constexpr Size kOfCpu[] = {{&shard::Sentinels::launch_us, 500, 1000, 16},
                           {&shard::Sentinels::cache_us, 2000, 20'000, 32},
                           {&shard::Sentinels::memory_us, 50'000, 100'000, 64}};

Measurement time_one(const Device& device, Clock clock, const Size& size, const std::function<bool()>& stop) {
    const generate::Recipe recipe{
        "sentinel", "uniform", {{"n_rows", std::to_string(size.n)}, {"m", std::to_string(size.m)}}, 1, {}};
    tuner::GraphWorkload graph(registry(), device, generate::generate(recipe));
    graph.graph().features();
    tuner::ProblemWorkload problem(graph, normalised({Op::spmm, size.k}), 1);
    std::vector<tuner::Contender> one(1);
    one.front().config = registry().default_config(graph.graph().query(problem.problem()), {});
    one.front().keep = true;
    const auto stopwatch = tuner::make_stopwatch(clock, device, graph.stream());
    tuner::MeasureHooks hooks;
    hooks.stop = stop;
    tuner::Frontier frontier;
    tuner::measure(problem, one, *stopwatch, Policy::hot, {}, hooks, frontier);
    return one.front().measurement;
}

}  // namespace

shard::Sentinels time_sentinels(const Device& device, Clock clock, int rank, const std::function<bool()>& stop) {
    shard::Sentinels out;
    out.rank = rank;
    out.host = host_name();
    out.device = device.environment.device_name + (device.uuid.empty() ? "" : " " + device.uuid);
    for (const Size& size : device.backend == Backend::cuda ? kOfGpu : kOfCpu) {
        if (stop()) break;
        const Measurement m = time_one(device, clock, size, stop);
        if (m.status != MeasurementStatus::ok) continue;
        out.*size.us = m.median_us;
        if (m.sm_clock_mhz > 0) out.sm_clock_mhz = std::min(out.sm_clock_mhz.value_or(m.sm_clock_mhz), m.sm_clock_mhz);
    }
    return out;
}

}  // namespace gnntune::tools
