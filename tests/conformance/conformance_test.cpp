// Every variant of the registry on every graph case. The registry decides what there is to test: a new folder under
// kernels/ appears here without an edit.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#if GNNTUNE_WITH_CUDA
#include <cuda_runtime_api.h>

#include "kernels/common/cublas.hpp"
#endif
#include "kernels/register_all.hpp"
#include "tests/conformance/faulty/faulty.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/unit/common/hopper.hpp"

namespace gnntune::conformance {
namespace {

const Registry& registry() {
    static const Registry kRegistry = [] {
        Registry r;
        register_all(r);
        return r;
    }();
    return kRegistry;
}

/// Configs that ran on a device, by op.
std::map<Op, int>& executed_configs() {
    static std::map<Op, int> counts;
    return counts;
}

/// "conformance: 12 configs executed (sddmm 4, spmm 8)"
std::string executed_text() {
    int total = 0;
    std::string ops;
    for (const auto& [op, count] : executed_configs()) {
        total += count;
        ops += (ops.empty() ? "" : ", ") + std::string(to_text(op)) + " " + std::to_string(count);
    }
    return "conformance: " + std::to_string(total) + " configs executed" + (ops.empty() ? "" : " (" + ops + ")");
}

std::string first_lines(const std::vector<Failure>& failures) {
    std::string text;
    for (std::size_t i = 0; i < failures.size() && i < 8; ++i) {
        text += "\n  [" + failures[i].check + "] " + failures[i].detail;
    }
    if (failures.size() > 8) text += "\n  ... and " + std::to_string(failures.size() - 8) + " more";
    return text;
}

struct Case {
    const Variant* variant;
    std::string graph;  ///< its name
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.variant->id << " on " << c.graph;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const Variant& v : registry().variants()) {
        for (const std::string& name : graph_names()) cases.push_back({&v, name});
    }
    return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    std::string name = std::string(info.param.variant->id) + "__" + info.param.graph;
    for (char& c : name) {
        if (c == '.') c = '_';
    }
    return name;
}

/// The test after which the device did not answer any more (an illegal access, say), and with what; empty: it does.
/// Such an error stays until the process ends: what follows would fail for no fault of its own.
std::string& device_lost() {
    static std::string text;
    return text;
}

void note_lost_device(const std::string& test) {
#if GNNTUNE_WITH_CUDA
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
        device_lost() = test + ": " + cudaGetErrorName(error);
    }
#else
    (void)test;
#endif
}

class Conformance : public testing::TestWithParam<Case> {};

TEST_P(Conformance, AgreesWithTheOracleAndKeepsItsPromises) {
    const Variant* const variant = GetParam().variant;
    if (variant->backend == Backend::cuda && cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    if (variant->backend == Backend::cuda && !device_lost().empty()) {
        GTEST_SKIP() << "the device was lost in " << device_lost();
    }
    const Device device = variant->backend == Backend::cuda ? cuda_device(0) : cpu_device();

    const Outcome outcome = run_case(registry(), device, *variant, graph_case(GetParam().graph));

    if (outcome.configs > 0) executed_configs()[variant->op] += outcome.configs;
    EXPECT_TRUE(outcome.failures.empty()) << first_lines(outcome.failures);
    if (variant->backend == Backend::cuda) {
        note_lost_device(std::string(variant->id) + " on " + GetParam().graph);
        EXPECT_EQ(device_lost(), "");
    }
}

// A GPU variant's record is host code: it is checked everywhere, against a device that is described but not there.
Device described_device(Backend backend) {
    return backend == Backend::cpu ? cpu_device() : test::hopper();
}

TEST_P(Conformance, RecordAgreesWithItself) {
    const Variant* const variant = GetParam().variant;
    const GraphCase& graph = graph_case(GetParam().graph);
    const Device device = described_device(variant->backend);
    for (const Problem& problem : problems(variant->op, graph)) {
        const bool reversed = problem.direction == Direction::reversed;
        const Query query{problem,
                          reversed ? graph.edges.n_cols : graph.edges.n_rows,
                          reversed ? graph.edges.n_rows : graph.edges.n_cols,
                          graph.edges.m(),
                          nullptr,
                          &device};

        const auto failures = check_record(registry(), *variant, query);

        ASSERT_TRUE(failures.empty()) << first_lines(failures);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(all_cases()), case_name);

class ConformanceRecord : public testing::TestWithParam<const Variant*> {};

// Kernels run at few widths; what a record says of a width costs nothing to ask.
TEST_P(ConformanceRecord, AgreesWithItselfAtEveryWidth) {
    const Variant& variant = *GetParam();
    const Device device = described_device(variant.backend);
    std::vector<std::int32_t> widths(300);
    std::iota(widths.begin(), widths.end(), 1);
    for (const std::int32_t k : {500, 511, 512, 520, 602, 768, 1000, 1024, 1433, 2048, 3703, 4096, 1 << 20}) {
        widths.push_back(k);
    }
    for (const std::int32_t k : widths) {
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
            for (const Reduce reduce : {Reduce::sum, Reduce::max}) {
                for (const std::int64_t n : {3000, 2000000}) {
                    Problem problem;
                    problem.op = variant.op;
                    problem.k = k;
                    problem.dtype = dtype;
                    problem.reduce = reduce;
                    if (normalised(problem) != problem) continue;

                    const auto failures = check_record(registry(), variant, {problem, n, n, 10 * n, nullptr, &device});

                    ASSERT_TRUE(failures.empty()) << first_lines(failures);
                }
            }
        }
    }
}

/// What this machine lacks that the variant cannot do without; empty: nothing. Asked of the machine, not of the variant,
/// whose own words would excuse it from everything.
std::string lacking_here(const Variant& variant, const Device& device) {
    if (variant.backend == Backend::cpu) return {};
    if (device.compute_capability < variant.min_compute_capability) {
        return "it needs compute capability " + std::to_string(variant.min_compute_capability);
    }
#if GNNTUNE_WITH_CUDA
    // Of those that need a library that is opened at run time, the record does not say so: a refusal has to be the
    // library's own.
    for (const Precision precision : {Precision::fp32, Precision::tf32}) {
        const Verdict found = kernels::find_cublas(precision);
        if (found || variant.precision != precision) continue;
        Problem problem;
        problem.op = variant.op;
        problem.k = 16;
        if (registry().applicable(variant, {problem, 67, 67, 67 * 67, nullptr, &device}).reason == found.reason) {
            return found.reason;
        }
    }
#endif
    return {};
}

/// Whether the variant takes any problem of any graph that has edges.
bool takes_some_problem(const Variant& variant, const Device& device) {
    for (const std::string& name : graph_names()) {
        const GraphCase& graph = graph_case(name);
        if (graph.edges.m() == 0) continue;
        for (const Problem& problem : problems(variant.op, graph)) {
            const bool reversed = problem.direction == Direction::reversed;
            const Query query{problem,
                              reversed ? graph.edges.n_cols : graph.edges.n_rows,
                              reversed ? graph.edges.n_rows : graph.edges.n_cols,
                              graph.edges.m(),
                              nullptr,
                              &device};
            if (registry().applicable(variant, query)) return true;
        }
    }
    return false;
}

// Every other test passes for a variant that refuses everything. Where there is no GPU, one that is described is asked.
TEST_P(ConformanceRecord, TakesSomeProblem) {
    const Variant& variant = *GetParam();
    const Device device = described_device(variant.backend);
    if (const std::string lacking = lacking_here(variant, device); !lacking.empty()) GTEST_SKIP() << lacking;
    EXPECT_TRUE(takes_some_problem(variant, device)) << variant.id << " refuses every problem on every graph";
}

TEST_P(ConformanceRecord, Executes) {
    const Variant& variant = *GetParam();
    if (variant.backend == Backend::cuda && cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    if (variant.backend == Backend::cuda && !device_lost().empty()) {
        GTEST_SKIP() << "the device was lost in " << device_lost();
    }
    const Device device = variant.backend == Backend::cuda ? cuda_device(0) : cpu_device();
    if (const std::string lacking = lacking_here(variant, device); !lacking.empty()) GTEST_SKIP() << lacking;
    const auto failures = check_executes(registry(), device, variant);
    EXPECT_TRUE(failures.empty()) << first_lines(failures);
}

std::vector<const Variant*> all_variants() {
    std::vector<const Variant*> variants;
    for (const Variant& v : registry().variants()) variants.push_back(&v);
    return variants;
}

INSTANTIATE_TEST_SUITE_P(All, ConformanceRecord, testing::ValuesIn(all_variants()), [](const auto& test) {
    std::string name = test.param->id;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
});

// The suite can fail: each wrong variant is rejected, by the check that is meant to see it.
class Faulty : public testing::TestWithParam<Backend> {};

/// What the suite says of a variant that is added to the registry. `done`: nothing more is asked.
template <typename Done>
std::vector<Failure> failures_of(const FaultyVariant& faulty, const Device& device, Done done) {
    Registry with_fault;
    register_all(with_fault);
    with_fault.add(faulty.variant);
    const Variant& variant = *with_fault.find(faulty.variant.id);
    std::vector<Failure> failures;
    for (const std::string& name : graph_names()) {
        const GraphCase& graph = graph_case(name);
        if (graph.large != faulty.on_hubs) continue;
        // Hubs take their time: one width.
        std::vector<Problem> on = problems(variant.op, graph);
        if (faulty.on_hubs) std::erase_if(on, [](const Problem& p) { return p.k != 16 || p.heads != 1; });
        const auto outcome = run_case(with_fault, device, variant, graph, on);
        failures.insert(failures.end(), outcome.failures.begin(), outcome.failures.end());
        if (done(failures)) return failures;
    }
    const auto idle = check_executes(with_fault, device, variant);
    failures.insert(failures.end(), idle.begin(), idle.end());
    return failures;
}

TEST_P(Faulty, VariantsAreRejectedByTheRightCheck) {
    const Backend backend = GetParam();
    if (backend == Backend::cuda && cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    const Device device = backend == Backend::cuda ? cuda_device(0) : cpu_device();
    int rejected = 0;
    for (const FaultyVariant& faulty : faulty_variants(backend)) {
        const auto meant = [&](const Failure& f) { return f.check == faulty.caught_by; };
        const auto caught = [&](const std::vector<Failure>& failures) {
            return std::any_of(failures.begin(), failures.end(), meant);
        };
        const auto failures = failures_of(faulty, device, caught);
        if (faulty.caught_by.empty()) {
            EXPECT_TRUE(failures.empty()) << faulty.variant.id << " is right but was rejected" << first_lines(failures);
            continue;
        }
        EXPECT_TRUE(caught(failures)) << faulty.variant.id << " was not caught by '" << faulty.caught_by << "'"
                                      << first_lines(failures);
        if (faulty.on_hubs) {
            EXPECT_TRUE(std::all_of(failures.begin(), failures.end(), meant))
                << faulty.variant.id << " shows without the inputs that are made for it" << first_lines(failures);
        }
        rejected += caught(failures) ? 1 : 0;
    }
    EXPECT_GE(rejected, backend == Backend::cpu ? 40 : 5);
}

INSTANTIATE_TEST_SUITE_P(All, Faulty, testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) { return std::string(to_text(backend.param)); });

}  // namespace
}  // namespace gnntune::conformance

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const int status = RUN_ALL_TESTS();
    std::cout << gnntune::conformance::executed_text() << "\n";
    // A run of the whole suite that executed nothing has tested nothing.
    if (!testing::GTEST_FLAG(list_tests) && testing::GTEST_FLAG(filter) == "*" &&
        gnntune::conformance::executed_configs().empty()) {
        std::cout << "conformance: no config was executed; that is a failure\n";
        return 1;
    }
    return status;
}
