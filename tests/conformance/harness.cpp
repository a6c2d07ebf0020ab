#include "tests/conformance/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "tests/conformance/fixture.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/stream.hpp"
#endif

namespace gnntune::conformance {
namespace {

using reference::Inputs;
using reference::Oracle;

void wait(const Device& device) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) GNNTUNE_CUDA(cudaDeviceSynchronize());
#else
    (void)device;
#endif
}

std::string compare_with(const Oracle& oracle, const std::vector<std::uint8_t>& result_bytes, Precision precision) {
    const auto result = reference::compare(oracle, result_bytes.data(), precision);
    if (result.pass()) return {};
    const double got = reference::element(result_bytes.data(), result.worst_at, oracle.dtype, oracle.index);
    return "element " + std::to_string(result.worst_at) + " is " + std::to_string(got) + ", expected " +
           std::to_string(oracle.value[static_cast<std::size_t>(result.worst_at)]) + "; error is " +
           std::to_string(result.worst_ratio) + " times the tolerance";
}

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

    void check(const Config& config) {
        where_ = config.text() + " on " + to_text(problem_);
        try {
#if GNNTUNE_WITH_CUDA
            StreamHandle handle = stream_ ? stream_->get() : nullptr;
#else
            StreamHandle handle = nullptr;
#endif
            const auto plan_or_refusal = make_plan(config, handle);
            if (!plan_or_refusal) return;
            const Plan& plan = *plan_or_refusal;
            set_rule(plan);
            check_run(plan, handle, 0, "oracle");
            if (scope() == Scope::once) return;
            if (plan.variant().operand_alignment <= 4) {
                check_run(plan, handle, 1, "misaligned");
            } else {
                check_refuses_misaligned(plan, handle);
            }
            check_infinities(plan, handle);
#if GNNTUNE_WITH_CUDA
            if (device_.backend == Backend::cuda && plan.capturable()) check_capture(plan, handle);
#endif
        } catch (const std::exception& e) {
            fail("runs", e.what());
        }
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
        replay_oracles_.clear();
        infinite_oracles_.clear();
    }

    std::string wrong_output(const std::vector<Oracle>& expected, const std::vector<std::vector<std::uint8_t>>& results,
                             Precision precision) const {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string wrong = compare_with(expected[i], results[i], precision);
            if (!wrong.empty()) return output_names_[i] + ": " + wrong;
        }
        return {};
    }

    void check_run(const Plan& plan, StreamHandle stream, std::size_t offset, const std::string& oracle_check) {
        Memory memory(device_.backend, query_, inputs_, plan.workspace_bytes(), offset);
        std::vector<std::vector<std::uint8_t>> first;
        const int repeats = plan.deterministic() && offset == 0 && scope() != Scope::once ? 3 : 1;
        for (int r = 0; r < repeats; ++r) {
            memory.poison(static_cast<std::uint16_t>(kPoison + r));
            wait(device_);
            plan.run(memory.operands, memory.workspace.data(), stream);
            wait(device_);
            memory.fetch();
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
        const std::string wrong = wrong_output(oracles_, first, plan.variant().precision);
        if (!wrong.empty()) fail(oracle_check, wrong);
        if (!memory.guards_intact()) fail("guards", "a guard byte was overwritten");
        if (!memory.unchanged(inputs_)) fail("inputs", "an operand was changed");
    }

    // A variant that needs aligned operands says so instead of running.
    void check_refuses_misaligned(const Plan& plan, StreamHandle stream) {
        Memory memory(device_.backend, query_, inputs_, plan.workspace_bytes(), 1);
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
        Memory memory(device_.backend, query_, infinite_inputs_, plan.workspace_bytes(), 0);
        memory.poison(kPoison);
        wait(device_);
        plan.run(memory.operands, memory.workspace.data(), stream);
        wait(device_);
        memory.fetch();
        const auto results = memory.results();
        const Oracle& oracle = infinite_oracles_.front();
        const double c = reference::operand_constant(v.precision);
        for (std::int64_t i = 0; i < oracle.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double expected = oracle.value[at];
            const double got = reference::element(results.front().data(), i, oracle.dtype, false);
            if (std::isnan(expected) && std::isnan(got)) continue;
            const double chain = oracle.chain[static_cast<std::size_t>(i / oracle.row_width)];
            const auto rounding = reference::rounding_of(oracle.dtype);
            if (reference::deviation(got, expected, oracle.scale[at], chain, c, rounding).ratio <= 1.0) continue;
            fail("infinities", "element " + std::to_string(i) + " is " + std::to_string(got) + ", expected " +
                                   std::to_string(expected));
            return;
        }
    }

#if GNNTUNE_WITH_CUDA
    // Capture refuses allocation, synchronisation and the legacy stream, so this check covers those too.
    void check_capture(const Plan& plan, StreamHandle handle) {
        auto* stream = static_cast<cudaStream_t>(handle);
        Memory memory(device_.backend, query_, inputs_, plan.workspace_bytes(), 0);
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
            replay_inputs_ = fixture_.inputs(problem_, 77);
            replay_oracles_ = fixture_.oracles(problem_, replay_inputs_, rule_ ? &*rule_ : nullptr);
        }
        memory.set(replay_inputs_);
        memory.poison(kPoison);
        wait(device_);
        GNNTUNE_CUDA(cudaGraphLaunch(executable, stream));
        wait(device_);
        memory.fetch();
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
    Inputs replay_inputs_;  // of check_capture(), kept for the next config
    std::vector<Oracle> replay_oracles_;
    Inputs infinite_inputs_;  // of check_infinities(), likewise
    std::vector<Oracle> infinite_oracles_;
    std::string where_;
};

}  // namespace

std::vector<Problem> problems(Op op, const GraphCase& graph) {
    std::vector<Problem> out;
    const bool short_run = graph.large || scope() != Scope::full;
    const bool once = scope() == Scope::once;
    const auto add = [&](std::int32_t k, std::int32_t heads, bool weighted, auto change) {
        for (const Direction direction : {Direction::forward, Direction::reversed}) {
            if (once && direction == Direction::reversed) break;
            Problem p;
            p.op = op;
            p.k = k;
            p.heads = heads;
            p.weighted = weighted;
            p.direction = direction;
            change(p);
            out.push_back(p);
        }
    };
    const auto as_is = [](Problem&) {};
    switch (op) {
        case Op::spmm:
        case Op::sddmm:
        case Op::spmm_grad:
            for (const std::int32_t k : widths(graph)) {
                for (const bool weighted : {false, true}) add(k, 1, weighted, as_is);
            }
            for (const DType dtype : {DType::f16, DType::bf16}) {
                for (const std::int32_t k : {1, 6, 7, 64, 72, 130}) {
                    if (short_run && k != 6 && k != 72) continue;
                    if (once && k != 72) continue;
                    for (const bool weighted : {false, true}) {
                        add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype; });
                        if (op == Op::sddmm || k != 6) continue;
                        if (op == Op::spmm) {
                            add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype, p.self_loop = true; });
                        }
                        add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype, p.reduce = Reduce::mean; });
                    }
                }
            }
            if (op == Op::sddmm) break;
            if (op == Op::spmm_grad && !short_run) {  // the widest rows that a warp holds
                add(512, 1, true, as_is);
                add(520, 1, true, [](Problem& p) { p.dtype = DType::f16; });
            }
            for (const std::int32_t k : {3, 64, 130}) {
                if (short_run && k != 3) continue;
                for (const bool weighted : {false, true}) {
                    add(k, 1, weighted, [](Problem& p) { p.self_loop = true; });
                    add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::mean; });
                }
            }
            break;
        case Op::gat:
        case Op::gat_grad:
        case Op::agnn:
        case Op::agnn_grad:
        case Op::attention:
        case Op::attention_grad:
            for (const std::int32_t heads : {1, 3, 8}) {
                if (once && heads != 3) continue;
                for (const std::int32_t k : {1, 7, 16, 33, 64, 130}) {
                    if (short_run && k != 7 && k != 16) continue;
                    add(k, heads, false, as_is);
                }
            }
            add(16, 1, false, [](Problem& p) { p.dtype = DType::f16; });
            break;
        case Op::edge_softmax:
            for (const std::int32_t heads : {1, 2, 3, 8}) add(1, heads, false, as_is);
            add(1, 1, false, [](Problem& p) { p.dtype = DType::f16; });
            break;
        case Op::gcn_norm:
            for (const bool weighted : {false, true}) add(1, 1, weighted, as_is);
            add(1, 1, true, [](Problem& p) { p.dtype = DType::f16; });
            break;
        case Op::coo_to_csr:
        case Op::csr_to_csc:
        case Op::sgt:
            add(1, 1, false, as_is);
            break;
    }
    return out;
}

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

}  // namespace

std::vector<Params> corners(const Graph& graph, const Variant& variant, const Query& query) {
    const auto space = variant.space(query);
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
    const auto space = v.space(query);
    const Params standard = v.default_params(query);
    if (!v.valid(query, standard))
        fail("the default {" + standard.text() + "} is not valid: " + v.valid(query, standard).reason);
    if (std::find(space.begin(), space.end(), standard) == space.end()) fail("the default is not in the space");
    for (const Params& p : space) {
        if (!v.valid(query, p)) fail("{" + p.text() + "} is in the space but not valid");
        if (!(Params::parse(p.text()) == p)) fail("{" + p.text() + "} does not survive its text form");
    }
    if (v.valid(query, Params{{"no_such_param", "1"}})) fail("accepts a param that it does not have");
    return failures;
}

Outcome run_case(const Registry& registry, const Device& device, const Variant& variant, const GraphCase& graph) {
    Outcome outcome;
    Fixture fixture(registry, device, graph);
    for (const Problem& problem : problems(variant.op, graph)) {
        const Query query = fixture.graph().query(problem);
        const auto record = check_record(registry, variant, query);
        outcome.failures.insert(outcome.failures.end(), record.begin(), record.end());
        if (!record.empty() || !registry.applicable(variant, query)) continue;
        try {
            ConfigChecker checker(device, fixture, problem, outcome.failures);
            for (const Params& params : corners(fixture.graph(), variant, query)) {
                checker.check({variant.id, params});
                ++outcome.configs;
            }
        } catch (const std::exception& e) {
            outcome.failures.push_back({"runs", std::string(variant.id) + " on " + to_text(problem) + ": " + e.what()});
            return outcome;
        }
    }
    return outcome;
}

}  // namespace gnntune::conformance
