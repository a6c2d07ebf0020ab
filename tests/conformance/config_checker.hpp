// One config after another on one graph and problem: every check of harness.hpp that runs something.
#pragma once

#include <omp.h>

#include <cfenv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "tests/conformance/fixture.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/conformance/verdicts.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/stream.hpp"
#include "core/ops/oracles.hpp"
#endif

namespace gnntune::conformance {

using reference::Inputs;
using reference::Oracle;

inline void wait(const Device& device) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) GNNTUNE_CUDA(cudaDeviceSynchronize());
#else
    (void)device;
#endif
}

/// Failures go to the list that it was given. Keeps inputs and oracles for the next config.
class ConfigChecker {
public:
    ConfigChecker(const Device& device, Fixture& fixture, const Problem& problem, std::vector<Failure>& failures)
        : device_(device), fixture_(fixture), problem_(problem), failures_(failures) {
        query_ = fixture.graph().query(problem);
        for (const ArraySpec& spec : arrays_of(query_)) {
            if (!spec.is_input()) output_names_.emplace_back(spec.name);
        }
        inputs_ = fixture.inputs(problem, 11);
#if GNNTUNE_WITH_CUDA
        if (device.backend == Backend::cuda) stream_ = std::make_unique<CudaStream>();
#endif
    }

    /// Whether the config ran. One that fails may have.
    bool check(const Config& config) {
        where_ = config.text() + " on " + to_text(problem_);
        try {
#if GNNTUNE_WITH_CUDA
            StreamHandle handle = stream_ ? stream_->get() : nullptr;
#else
            StreamHandle handle = nullptr;
#endif
            const auto plan_or_refusal = make_plan(config, handle);
            if (!plan_or_refusal) return false;
            const Plan& plan = *plan_or_refusal;
            set_rule(plan);
            check_run(plan, handle, 0, "oracle");
            if (scope() == Scope::once) return true;
            check_traps(plan, handle);
            check_left_out(plan, handle);
            if (plan.variant().operand_alignment <= 4) {
                check_run(plan, handle, 1, "misaligned");
            } else {
                check_refuses_misaligned(plan, handle);
            }
            check_infinities(plan, handle);
            check_integers(plan, handle);
            check_epilogues(plan, handle);
            check_seed(plan, handle);
#if GNNTUNE_WITH_CUDA
            if (device_.backend == Backend::cuda && plan.capturable()) check_capture(plan, handle);
#endif
        } catch (const std::exception& e) {
            fail("runs", e.what());
        }
        return true;
    }

    /// Whether the config runs, and nothing else of it.
    bool runs(const Config& config) {
        const auto plan = make_plan(config, nullptr);
        if (!plan) return false;
        Memory memory(device_.backend, nullptr, query_, inputs_, plan->workspace_bytes(), 0);
        plan->run(memory.operands, memory.workspace.data(), nullptr);
        wait(device_);
        return true;
    }

private:
    // A part may refuse the graph that a composition makes for it (a sampled one), in words; only the standard parts
    // have to take everything. A config may be refused here for what only the degrees tell, if its record says the same
    // once they are known.
    std::unique_ptr<Plan> make_plan(const Config& config, StreamHandle stream) const {
        Graph& graph = fixture_.graph();
        const Variant& v = *graph.registry().find(config.variant);
        try {
            return std::make_unique<Plan>(graph, problem_, config, stream);
        } catch (const Error& e) {
            const bool other_parts = v.parts && !(config.params == v.default_params(query_));
            if (e.kind() != ErrorKind::unsupported) throw;
            graph.features();
            if (!other_parts && v.valid(graph.query(problem_), config.params)) throw;
            return nullptr;
        }
    }

    void fail(const std::string& check, const std::string& detail) {
        failures_.push_back({check, where_ + ": " + detail});
    }

    // A sampling variant is held to the op's definition on its own sample.
    void set_rule(const Plan& plan) {
        std::optional<SampleRule> rule;
        if (plan.variant().sampling) rule = plan.variant().sampling(plan.config().params);
        if (!oracles_.empty() && rule == rule_) return;
        rule_ = rule;
        oracles_ = fixture_.oracles(problem_, inputs_, rule_ ? &*rule_ : nullptr);
        right_.clear();
        replay_oracles_.clear();
        infinite_oracles_.clear();
        integer_oracles_.clear();
    }

    std::string wrong_output(const std::vector<Oracle>& expected, const std::vector<std::vector<std::uint8_t>>& results,
                             Precision precision) const {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string wrong = wrong_by_tolerance(expected[i], results[i], precision);
            if (!wrong.empty()) return output_names_[i] + ": " + wrong;
        }
        return {};
    }

    /// The same of a run on `inputs_`. Bits that were found right are not looked at again.
    std::string wrong_output(const std::vector<std::vector<std::uint8_t>>& results, Precision precision) {
        if (results == right_) return {};
        std::string wrong = wrong_output(oracles_, results, precision);
        if (wrong.empty()) right_ = results;
        return wrong;
    }

    /// One run on poisoned outputs. The host has what the device holds afterwards.
    void run(Memory& memory, const Plan& plan, StreamHandle stream) const {
        memory.poison(kPoison);
        plan.run(memory.operands, memory.workspace.data(), stream);
        memory.fetch();
        wait(device_);
    }

    void check_run(const Plan& plan, StreamHandle stream, std::size_t offset, const std::string& oracle_check) {
        Memory memory(device_.backend, stream, query_, inputs_, plan.workspace_bytes(), offset);
        std::vector<std::vector<std::uint8_t>> first;
        const int enough = device_.backend == Backend::cpu ? 2 : 3;
        const int repeats = plan.deterministic() && offset == 0 && scope() != Scope::once ? enough : 1;
        for (int r = 0; r < repeats; ++r) {
            memory.poison(static_cast<std::uint16_t>(kPoison + r));
            plan.run(memory.operands, memory.workspace.data(), stream);
            if (r + 1 < repeats) {
                memory.fetch_results();
            } else {
                memory.fetch();
            }
            wait(device_);
            auto results = memory.results();
            if (r > 0) {
                if (results != first) fail("repeats", "run " + std::to_string(r + 1) + " differs from the first");
                continue;
            }
            first = std::move(results);
        }
        for (std::size_t i = 0; i < first.size(); ++i) {
            const std::size_t element_bytes = memory.element_bytes[i];
            if (has_unwritten(first[i], element_bytes, kPoison)) {
                fail("written", output_names_[i] + ": some of the " + std::to_string(first[i].size() / element_bytes) +
                                    " elements were not written");
                return;
            }
        }
        const std::string wrong = wrong_output(first, plan.variant().precision);
        if (!wrong.empty()) fail(oracle_check, wrong);
        if (!memory.guards_intact()) fail("guards", "a guard byte was overwritten");
        if (!memory.unchanged(inputs_)) fail("inputs", "an operand was changed");
    }

    // An application may trap floating-point exceptions. The whole run is on this thread, whose flags are asked.
    void check_traps(const Plan& plan, StreamHandle stream) {
        if (device_.backend != Backend::cpu) return;
        Memory memory(device_.backend, stream, query_, inputs_, plan.workspace_bytes(), 0);
        memory.poison(kPoison);
        const int threads = omp_get_max_threads();
        omp_set_num_threads(1);
        std::feclearexcept(FE_ALL_EXCEPT);
        plan.run(memory.operands, memory.workspace.data(), stream);
        const int raised = std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
        omp_set_num_threads(threads);
        if ((raised & FE_DIVBYZERO) != 0) fail("traps", "raises FE_DIVBYZERO");
        if ((raised & FE_INVALID) != 0) fail("traps", "raises FE_INVALID");
        if ((raised & FE_OVERFLOW) != 0) fail("traps", "raises FE_OVERFLOW");
    }

    // Outputs that may be null, all of them left out: the others are what they were.
    void check_left_out(const Plan& plan, StreamHandle stream) {
        const auto specs = arrays_of(query_);
        if (std::none_of(specs.begin(), specs.end(), [](const ArraySpec& spec) { return spec.optional; })) return;
        Memory memory(device_.backend, stream, query_, inputs_, plan.workspace_bytes(), 0);
        for (const ArraySpec& spec : specs) {
            if (spec.optional) spec.bind(memory.operands, nullptr);
        }
        run(memory, plan, stream);
        const auto results = memory.results();
        std::size_t i = 0;
        for (const ArraySpec& spec : specs) {
            if (spec.is_input()) continue;
            const bool right = spec.optional || (!right_.empty() && results[i] == right_[i]);
            const std::string wrong =
                right ? std::string() : wrong_by_tolerance(oracles_[i], results[i], plan.variant().precision);
            if (!wrong.empty()) fail("left out", output_names_[i] + ": " + wrong);
            ++i;
        }
        if (!memory.guards_intact()) fail("left out", "a guard byte was overwritten");
    }

    // A variant that needs aligned operands says so instead of running.
    void check_refuses_misaligned(const Plan& plan, StreamHandle stream) {
        Memory memory(device_.backend, stream, query_, inputs_, plan.workspace_bytes(), 1);
        try {
            plan.run(memory.operands, memory.workspace.data(), stream);
        } catch (const Error&) {
            return;
        }
        wait(device_);
        fail("misaligned", "needs aligned operands and runs without");
    }

    // What a kernel multiplies by zero must not be what other rows refer to.
    void check_infinities(const Plan& plan, StreamHandle stream) {
        const Variant& v = plan.variant();
        if (problem_.op != Op::spmm || v.spreads_infinities || v.baseline) return;
        const bool tried = problem_.k == 6 || problem_.k == 16 || problem_.k == 64 || problem_.k == 72;
        if (problem_.direction != Direction::forward || !tried) return;
        if (infinite_oracles_.empty()) {
            infinite_inputs_ = fixture_.infinite_inputs(problem_, 11);
            infinite_oracles_ = fixture_.oracles(problem_, infinite_inputs_, rule_ ? &*rule_ : nullptr);
        }
        run_on(infinite_inputs_, plan, stream, "infinities", [&](std::size_t i, const auto& result) {
            return wrong_with_infinities(infinite_oracles_[i], result, v.precision);
        });
    }

    // One run on other inputs; `wrong_with(i, result)` says in words what is wrong with the i-th result, which fails `check`.
    template <typename Inputs, typename F>
    void run_on(const Inputs& inputs, const Plan& plan, StreamHandle stream, const char* check, const F& wrong_with) {
        Memory memory(device_.backend, stream, query_, inputs, plan.workspace_bytes(), 0);
        run(memory, plan, stream);
        const auto results = memory.results();
        for (std::size_t i = 0; i < results.size(); ++i) {
            const std::string wrong = wrong_with(i, results[i]);
            if (!wrong.empty()) return fail(check, output_names_[i] + ": " + wrong);
        }
    }

    // The tolerance of a sum grows with its terms: on a row of 200,000 edges it hides one that is lost. Sums of small
    // integers have none. Those of a rescaled sample are not integers.
    void check_integers(const Plan& plan, StreamHandle stream) {
        if (!exact_of_integers(problem_) || (rule_ && rule_->rescale)) return;
        if (integer_oracles_.empty()) {
            integer_inputs_ = fixture_.integer_inputs(problem_, 11);
            integer_oracles_ = fixture_.oracles(problem_, integer_inputs_, rule_ ? &*rule_ : nullptr);
        }
        run_on(integer_inputs_, plan, stream, "integers", [&](std::size_t i, const auto& result) {
            return wrong_of_integers(integer_oracles_[i], result, plan.variant().precision);
        });
    }

    /// A run of sddmm with numbers, and what comes of it.
    struct Epilogue {
        std::string name;
        bool infinite;
        Inputs inputs;
        std::vector<Oracle> oracles;
    };

    // Scales that make logits of a few units of the products, whatever their length; exp of the largest is infinite in
    // f16.
    void make_epilogues() {
        const float unit = 1.0F / std::sqrt(static_cast<float>(problem_.k));
        const auto add = [&](const char* name, EdgeActivation activation, float scale, bool infinite) {
            Operands numbers;
            numbers.activation = activation;
            numbers.scale = scale;
            numbers.negative_slope = 0.3F;
            Inputs in =
                infinite ? fixture_.infinite_inputs(problem_, 11, numbers) : fixture_.inputs(problem_, 11, numbers);
            auto expected = fixture_.oracles(problem_, in, nullptr);
            epilogues_.push_back({name, infinite, std::move(in), std::move(expected)});
        };
        add("scale", EdgeActivation::none, -0.75F, false);
        add("scale 0", EdgeActivation::none, 0.0F, false);
        add("leaky_relu", EdgeActivation::leaky_relu, 1.5F, false);
        add("exp", EdgeActivation::exp, 3 * unit, false);
        add("leaky_relu, infinite", EdgeActivation::leaky_relu, -1.5F, true);
        add("exp, infinite", EdgeActivation::exp, unit, true);
    }

    void check_epilogues(const Plan& plan, StreamHandle stream) {
        const Variant& v = plan.variant();
        const std::int32_t k = problem_.k;
        const bool tried = k == 1 || k == 33 || k == 64 || k == 72 || k == 602;
        if (problem_.op != Op::sddmm || !tried) return;
        if (epilogues_.empty()) make_epilogues();
        for (const Epilogue& e : epilogues_) {
            if (e.infinite && (v.spreads_infinities || v.baseline)) continue;
            Memory memory(device_.backend, stream, query_, e.inputs, plan.workspace_bytes(), 0);
            run(memory, plan, stream);
            const std::string wrong = e.infinite ? wrong_with_infinities(e.oracles[0], memory.results()[0], v.precision)
                                                 : wrong_output(e.oracles, memory.results(), v.precision);
            if (!wrong.empty()) fail("epilogues", e.name + ": " + wrong);
            if (!memory.guards_intact()) fail("epilogues", e.name + ": a guard byte was overwritten");
        }
    }

    /// One number in the backend's memory.
    class SeedOffset {
    public:
        SeedOffset(Backend backend, StreamHandle stream, std::uint64_t value) : memory_(backend, stream, sizeof value) {
            set(value);
        }
        void set(std::uint64_t value) { memory_.assign(&value); }
        const std::uint64_t* data() { return memory_.as<std::uint64_t>(); }

    private:
        GuardedBytes memory_;
    };

    bool has_dropout() const {
        const Op forward = forward_of(problem_.op);
        return (forward == Op::gat || forward == Op::attention) && inputs_.operands().dropout > 0.0F;
    }

    // The sum of both, modulo 2^64, is what the seed alone was, and is used as a number of 64 bits.
    void check_seed(const Plan& plan, StreamHandle stream) {
        if (!has_dropout()) return;
        constexpr std::uint64_t kOffset = 0xfedcba9800000007ULL;
        SeedOffset offset(device_.backend, stream, kOffset);
        Memory memory(device_.backend, stream, query_, inputs_, plan.workspace_bytes(), 0);
        memory.operands.seed -= kOffset;
        memory.operands.seed_offset = offset.data();
        run(memory, plan, stream);
        const std::string wrong = wrong_output(memory.results(), plan.variant().precision);
        if (!wrong.empty()) fail("seed", wrong);
        if (!memory.guards_intact()) fail("seed", "a guard byte was overwritten");
    }

#if GNNTUNE_WITH_CUDA
    // Capture refuses allocation, synchronisation and the legacy stream, so this check covers those too.
    void check_capture(const Plan& plan, StreamHandle handle) {
        auto* stream = static_cast<cudaStream_t>(handle);
        Memory memory(device_.backend, stream, query_, inputs_, plan.workspace_bytes(), 0);
        SeedOffset offset(device_.backend, stream, 0);
        if (has_dropout()) memory.operands.seed_offset = offset.data();
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        GNNTUNE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        std::string error;
        try {
            plan.run(memory.operands, memory.workspace.data(), handle);
        } catch (const std::exception& e) {
            error = e.what();
        }
        const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
        if (!error.empty() || ended != cudaSuccess) {
            (void)cudaGetLastError();
            if (graph) (void)cudaGraphDestroy(graph);
            fail("capture", error.empty() ? cudaGetErrorName(ended) : error);
            return;
        }
        GNNTUNE_CUDA(cudaGraphInstantiate(&executable, graph, 0));
        if (replay_oracles_.empty()) {
            Operands numbers = numbers_of(problem_);
            if (has_dropout()) ++numbers.seed;
            replay_inputs_ = fixture_.inputs(problem_, 77, numbers);
            replay_oracles_ = fixture_.oracles(problem_, replay_inputs_, rule_ ? &*rule_ : nullptr);
        }
        memory.set(replay_inputs_);
        offset.set(1);
        memory.poison(kPoison);
        GNNTUNE_CUDA(cudaGraphLaunch(executable, stream));
        memory.fetch_results();
        wait(device_);
        const std::string wrong = wrong_output(replay_oracles_, memory.results(), plan.variant().precision);
        if (!wrong.empty()) fail("capture", "replay with other values: " + wrong);
        (void)cudaGraphExecDestroy(executable);
        (void)cudaGraphDestroy(graph);
    }
#endif

    const Device& device_;
#if GNNTUNE_WITH_CUDA
    std::unique_ptr<CudaStream> stream_;
#endif
    Fixture& fixture_;
    Problem problem_;
    std::vector<Failure>& failures_;
    Query query_;
    std::vector<std::string> output_names_;
    Inputs inputs_;
    std::optional<SampleRule> rule_;
    std::vector<Oracle> oracles_;
    std::vector<std::vector<std::uint8_t>> right_;  ///< results on inputs_ that agree with oracles_; empty: none yet
    Inputs replay_inputs_;                          // of check_capture(), kept for the next config
    std::vector<Oracle> replay_oracles_;
    Inputs infinite_inputs_;  // of check_infinities(), likewise
    std::vector<Oracle> infinite_oracles_;
    Inputs integer_inputs_;  // of check_integers(), likewise
    std::vector<Oracle> integer_oracles_;
    std::vector<Epilogue> epilogues_;  // of check_epilogues(), likewise
    std::string where_;
};

}  // namespace gnntune::conformance
