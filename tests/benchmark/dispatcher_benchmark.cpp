// Host time of what an application waits for: opening a database of 100,000 rows, describing a graph, planning where
// the database answers and where the model does, and enqueuing a run, beside the same launch without the library. On a
// GPU where there is one, else on the CPU; there cuSPARSE, called directly, stands beside the runs.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gnntune/gnntune.hpp>

#include "core/dispatch/plan.hpp"
#include "core/features/features.hpp"
#include "core/generate/generate.hpp"
#include "core/graph/fingerprint.hpp"
#include "kernels/register_all.hpp"
#include "profiles/store/store.hpp"
#include "tests/benchmark/arrays.hpp"
#include "tests/benchmark/cusparse_direct.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace gnntune::bench {
namespace {

namespace gt = gnntune::api;

constexpr std::int32_t kK = 64;
constexpr std::int32_t kCrowdedK = 32;  // the problem with rows of hundreds of configs, as GPUs have
constexpr int kCrowd = 400;
constexpr int kBatch = 64;  // runs between two waits for the device: its queue is never full

const Registry& registry() {
    static const Registry* made = [] {
        auto* r = new Registry;
        register_all(*r);
        return r;
    }();
    return *made;
}

Device device_here() {
    return cuda_device_count() > 0 ? cuda_device(0) : cpu_device();
}

Problem spmm_problem(std::int32_t k) {
    Problem p;
    p.op = Op::spmm;
    p.k = k;
    p.weighted = true;
    return p;
}

/// A graph in host memory and in that of the backend, with operands.
struct Case {
    explicit Case(const generate::Recipe& recipe)
        : name(recipe.name),
          csr(generate::generate(recipe)),
          row_ptr(csr.row_ptr.data(), csr.row_ptr.size()),
          col_idx(csr.col_idx.data(), csr.col_idx.size()),
          x(std::vector<float>(static_cast<std::size_t>(csr.n_cols) * kK, 1.0F)),
          weight(std::vector<float>(static_cast<std::size_t>(csr.m()), 1.0F)),
          y(std::vector<float>(static_cast<std::size_t>(csr.n_rows) * kK, 0.0F)) {}

    /// In the backend's memory.
    CsrView view() const {
        const MemorySpace space = cuda_device_count() > 0 ? MemorySpace::device : MemorySpace::host;
        return {csr.n_rows, csr.n_cols, csr.m(), row_ptr.data(), col_idx.data(), weight.data(), space};
    }

    std::string name;
    CsrGraph csr;
    Array<std::int32_t> row_ptr;
    Array<std::int32_t> col_idx;
    Array<float> x;
    Array<float> weight;
    Array<float> y;
};

const std::vector<std::unique_ptr<Case>>& cases() {
    static const auto* made = [] {
        auto* out = new std::vector<std::unique_ptr<Case>>;
        out->push_back(std::make_unique<Case>(
            generate::Recipe{"cora_sized", "power_law", {{"n_rows", "2708"}, {"m", "10556"}}, 1, ""}));
        out->push_back(std::make_unique<Case>(
            generate::Recipe{"million_edges", "power_law", {{"n_rows", "50000"}, {"m", "1000000"}}, 1, ""}));
        return out;
    }();
    return *made;
}

/// Memory of the backend at a multiple of 256 bytes.
class Workspace {
public:
    explicit Workspace(std::size_t bytes) : memory_(std::vector<unsigned char>(bytes + 256)) {}
    void* data() const {
        unsigned char* begin = memory_.writable();
        return begin + (256 - reinterpret_cast<std::uintptr_t>(begin) % 256) % 256;
    }

private:
    Array<unsigned char> memory_;
};

std::vector<Config> configs_of(const CsrGraph& csr, const Problem& problem, const Device& device) {
    const Features features = features_of(csr.view());
    const Query query{problem, csr.n_rows, csr.n_cols, csr.m(), &features, &device};
    std::vector<Config> out;
    for (const Variant& v : registry().variants()) {
        if (!registry().applicable(v, query)) continue;
        for (Params& p : v.space(query)) out.push_back({v.id, std::move(p)});
    }
    return out;
}

Measurement row(const Config& config, double median_us) {
    Measurement m;
    m.config = config;
    const Variant* variant = registry().find(config.variant);
    m.variant_version = variant ? variant->version : 1;
    m.median_us = m.q1_us = m.q3_us = m.min_us = median_us;
    m.ci_low_us = 0.999 * median_us;
    m.ci_high_us = 1.001 * median_us;
    m.samples = 31;
    m.deterministic = true;
    m.max_error = 1e-7;
    m.taken_at = "2026-01-01T00:00:00Z";
    return m;
}

/// A database in which each of the cases has a row for every config, and other graphs have the rest of `rows`.
class Database {
public:
    explicit Database(std::int64_t rows) {
        const Device device = device_here();
        store::Store store = store::Store::open(path(), store::Mode::read_write_create);
        store::Transaction transaction = store.transaction();
        const std::int64_t run = store.begin_run({"benchmark", "", "", 1, ""});
        const std::int64_t environment = store.environment_id(device.environment);
        std::vector<Config> last;
        for (const auto& c : cases()) {
            last = configs_of(c->csr, spmm_problem(kK), device);
            const GraphRecord record{
                fingerprint(c->csr.view()), c->csr.n_rows, c->csr.n_cols, c->csr.m(), c->name, "generated", "{}"};
            add(store, run, {store.graph_id(record), environment, store.problem_id(spmm_problem(kK))}, last);
            add(store, run, {store.graph_id(record), environment, store.problem_id(spmm_problem(kCrowdedK))},
                crowd_of(configs_of(c->csr, spmm_problem(kCrowdedK), device)));
        }
        for (std::uint64_t other = 1; rows_ < rows; ++other) {
            const GraphRecord record{{other, other}, 1000, 1000, 5000, "other", "generated", "{}"};
            const std::int64_t graph = store.graph_id(record);
            for (const std::int32_t k : {16, 32, 64, 128, 256}) {
                add(store, run, {graph, environment, store.problem_id(spmm_problem(k))}, last);
            }
        }
        store.end_run(run);
        transaction.commit();
    }

    std::filesystem::path path() const { return folder_.path() / "benchmark.db"; }
    std::int64_t rows() const { return rows_; }

private:
    /// Filled up with configs of another build, which are read and refused as those of this one are.
    static std::vector<Config> crowd_of(std::vector<Config> configs) {
        for (int i = static_cast<int>(configs.size()); i < kCrowd; ++i) {
            configs.push_back(Config::parse("spmm.elsewhere{lanes=8,split=1,items=" + std::to_string(i) + "}"));
        }
        return configs;
    }

    void add(store::Store& store, std::int64_t run, const store::Key& key, const std::vector<Config>& configs) {
        double us = 10;
        for (const Config& c : configs) {
            store.add_measurement(run, key, row(c, us));
            us *= 1.05;
            ++rows_;
        }
    }

    test::TemporaryFolder folder_;
    std::int64_t rows_ = 0;
};

const Database& database() {
    static const Database made(100000);
    return made;
}

gt::Context open_context(const std::filesystem::path& path) {
    gt::OpenOptions options;
    options.backend = device_here().backend == Backend::cuda ? GNNTUNE_BACKEND_CUDA : GNNTUNE_BACKEND_CPU;
    return gt::Context(path.c_str(), options);
}

gt::Graph graph_in(gt::Context& context, const Case& c, bool trusted, bool transient = false) {
    gt::Csr csr;
    csr.memory = context.backend() == GNNTUNE_BACKEND_CUDA ? GNNTUNE_DEVICE : GNNTUNE_HOST;
    csr.trusted = trusted ? 1 : 0;
    csr.transient = transient ? 1 : 0;
    csr.n_rows = c.csr.n_rows;
    csr.n_cols = c.csr.n_cols;
    csr.m = c.csr.m();
    csr.row_ptr = c.row_ptr.data();
    csr.col_idx = c.col_idx.data();
    return context.graph(csr);
}

void open_rows(benchmark::State& state) {
    const auto path = database().path();  // writing it takes a second
    for (auto _ : state) {
        gt::Context context = open_context(path);
        benchmark::DoNotOptimize(context.get());
    }
    state.counters["rows"] = static_cast<double>(database().rows());
}

void describe_graph(benchmark::State& state, const Case& c, bool trusted) {
    gt::Context context = open_context("");
    for (auto _ : state) {
        const gt::Graph graph = graph_in(context, c, trusted);
        benchmark::DoNotOptimize(graph.get());
    }
}

void know_graph(benchmark::State& state, const Case& c) {
    gt::Context context = open_context("");
    for (auto _ : state) {
        const gt::Graph graph = graph_in(context, c, true);
        benchmark::DoNotOptimize(graph.fingerprint());
    }
}

/// Once the graph is known and the winner's formats are built.
void plan(benchmark::State& state, const Case& c, const std::filesystem::path& path, std::int32_t k) {
    gt::Context context = open_context(path);
    const gt::Graph graph = graph_in(context, c, true);
    const gt::Problem problem = gt::spmm(k).weighted();
    const std::string source = context.plan(graph, problem).source();
    for (auto _ : state) {
        const gt::Plan made = context.plan(graph, problem);
        benchmark::DoNotOptimize(made.get());
    }
    state.SetLabel(source);
}

/// The same under demands that no plan had before: the rows are known, the choice is not.
void plan_anew(benchmark::State& state, const Case& c, std::int32_t k) {
    gt::Context context = open_context(database().path());
    const gt::Graph graph = graph_in(context, c, true);
    (void)context.plan(graph, gt::spmm(k).weighted());
    double calls = 1000;
    for (auto _ : state) {
        calls += 1;
        const gt::Plan made = context.plan(graph, gt::spmm(k).weighted().expected_calls(calls));
        benchmark::DoNotOptimize(made.get());
    }
}

/// The first plan of a problem on a graph in a context: its rows are read from the file.
void plan_first(benchmark::State& state, const Case& c, std::int32_t k) {
    for (auto _ : state) {
        gt::Context context = open_context(database().path());
        const gt::Graph graph = graph_in(context, c, true);
        (void)graph.fingerprint();
        const auto begin = std::chrono::steady_clock::now();
        const gt::Plan made = context.plan(graph, gt::spmm(k).weighted());
        state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
}

/// A graph that is described, planned by its shape and let go: what a sampler's batch costs before it runs.
void plan_batch(benchmark::State& state, const Case& c, bool transient) {
    gt::Context context = open_context("");
    for (auto _ : state) {
        const gt::Graph graph = graph_in(context, c, true, transient);
        const gt::Plan made = context.plan(graph, gt::spmm(kK).weighted());
        benchmark::DoNotOptimize(made.get());
    }
}

void explain_plan(benchmark::State& state, const Case& c, std::int32_t k) {
    gt::Context context = open_context(database().path());
    const gt::Graph graph = graph_in(context, c, true);
    const gt::Plan made = context.plan(graph, gt::spmm(k).weighted());
    for (auto _ : state) benchmark::DoNotOptimize(gnntune_plan_explain(made.get(), nullptr, 0));
}

/// Host time of one call of `enqueue`; the device's queue is emptied between batches, outside of it.
template <typename Enqueue>
void time_batches(benchmark::State& state, Enqueue enqueue) {
    using Clock = std::chrono::steady_clock;
    for (int i = 0; i < kBatch; ++i) enqueue();
    wait_for_device();
    for (auto _ : state) {
        const auto begin = Clock::now();
        for (int i = 0; i < kBatch; ++i) enqueue();
        const auto end = Clock::now();
        wait_for_device();
        state.SetIterationTime(std::chrono::duration<double>(end - begin).count() / kBatch);
    }
}

void run_by_library(benchmark::State& state, const Case& c) {
    gt::Context context = open_context(database().path());
    const gt::Graph graph = graph_in(context, c, true);
    const gt::Plan plan = context.plan(graph, gt::spmm(kK).weighted());
    const Workspace workspace(plan.workspace_bytes());
    time_batches(state, [&] {
        plan.run(c.x.data(), c.weight.data(), c.y.writable(), workspace.data(), plan.workspace_bytes(), nullptr);
    });
    state.SetLabel(plan.config());
}

/// The same config, launched without the library.
void run_bare(benchmark::State& state, const Case& c) {
    gt::Context context = open_context(database().path());
    const Config config = Config::parse(context.plan(graph_in(context, c, true), gt::spmm(kK).weighted()).config());
    const Device device = device_here();
    Graph graph(registry(), device, c.view());
    const Plan plan(graph, spmm_problem(kK), config, nullptr);
    const Workspace workspace(plan.workspace_bytes());
    Operands operands;
    operands.x = c.x.data();
    operands.edge_weight = c.weight.data();
    operands.y = c.y.writable();
    time_batches(state, [&] { plan.run(operands, workspace.data(), nullptr); });
    state.SetLabel(config.text());
}

void run_cusparse(benchmark::State& state, const Case& c) {
    CusparseSpmm spmm(c.view(), c.x.data(), c.y.writable(), kK);
    time_batches(state, [&] { spmm.run(); });
}

template <typename F>
benchmark::internal::Benchmark* add(const std::string& name, F&& f) {
    return benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(f))->Unit(benchmark::kMicrosecond);
}

void add_all() {
    add("open/100000_rows", open_rows)->Unit(benchmark::kMillisecond);
    for (const auto& owned : cases()) {
        const Case& c = *owned;
        add("graph/checked/" + c.name, [&c](benchmark::State& s) { describe_graph(s, c, false); });
        add("graph/trusted/" + c.name, [&c](benchmark::State& s) { describe_graph(s, c, true); });
        add("graph/fingerprint/" + c.name, [&c](benchmark::State& s) { know_graph(s, c); });
        add("plan/database/" + c.name, [&c](benchmark::State& s) { plan(s, c, database().path(), kK); });
        add("plan/elsewhere/" + c.name, [&c](benchmark::State& s) { plan(s, c, database().path(), 2 * kK); });
        add("plan/crowded/" + c.name, [&c](benchmark::State& s) { plan(s, c, database().path(), kCrowdedK); });
        add("plan/anew/" + c.name, [&c](benchmark::State& s) { plan_anew(s, c, kK); });
        add("plan/anew_crowded/" + c.name, [&c](benchmark::State& s) { plan_anew(s, c, kCrowdedK); });
        add("plan/first/" + c.name, [&c](benchmark::State& s) { plan_first(s, c, kCrowdedK); })->UseManualTime();
        add("batch/transient/" + c.name, [&c](benchmark::State& s) { plan_batch(s, c, true); });
        add("batch/lasting/" + c.name, [&c](benchmark::State& s) { plan_batch(s, c, false); });
        add("explain/crowded/" + c.name, [&c](benchmark::State& s) { explain_plan(s, c, kCrowdedK); });
        add("run/library/" + c.name, [&c](benchmark::State& s) { run_by_library(s, c); })->UseManualTime();
        add("run/bare/" + c.name, [&c](benchmark::State& s) { run_bare(s, c); })->UseManualTime();
        if (device_here().backend == Backend::cuda) {
            add("run/cusparse/" + c.name, [&c](benchmark::State& s) { run_cusparse(s, c); })->UseManualTime();
        }
    }
}

}  // namespace
}  // namespace gnntune::bench

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    std::printf("on %s\n", gnntune::bench::device_here().environment.device_name.c_str());
    gnntune::bench::add_all();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
