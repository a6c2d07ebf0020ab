#include "tests/conformance/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/graph/convert.hpp"
#include "core/reference/inputs.hpp"
#include "tests/conformance/guarded.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_graph.hpp"
#include "core/gpu/stream.hpp"
#endif

namespace gnntune::conformance {
namespace {

using reference::Inputs;
using reference::Oracle;

// Normal values of both signs: nothing that hides an index error behind equal numbers. Logits of every second problem
// reach +-100 each, where exp() without a subtracted maximum overflows.
HostVector<float> draw(const Problem& p, const ArraySpec& spec, unsigned seed) {
    std::mt19937 random(seed);
    HostVector<float> out(static_cast<std::size_t>(spec.size()));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    const float spread = (p.k + p.heads) % 2 != 0 ? 100.0F : 2.0F;
    for (auto& v : out) {
        v = spec.fill == Fill::logits ? spread * uniform(random) : normal(random);
        if (spec.fill == Fill::positive) v = std::abs(v) + 0.01F;
    }
    return out;
}

// Slope, dropout and seed of a run: dropout for some problems and none for others.
Operands numbers_of(const Problem& p) {
    Operands numbers;
    numbers.negative_slope = 0.2F;
    numbers.dropout = p.heads == 3 || p.k == 33 ? 0.4F : 0.0F;
    numbers.seed = 0x1234567890abcdefULL;
    return numbers;
}

// Everything of one graph that does not depend on the config: host arrays, and the graph on the backend.
class Fixture {
public:
    Fixture(const Registry& registry, const Device& device, const GraphCase& graph)
        : case_(graph), forward_(coo_to_csr(graph.edges.view(), &forward_id_)) {
        reversed_ = coo_to_csr({graph.edges.n_cols, graph.edges.n_rows, graph.edges.m(), graph.edges.col_idx.data(),
                                graph.edges.row_idx.data(), nullptr, MemorySpace::host},
                               &reversed_id_);
        // A caller with CSR hands in sorted rows; the case's own order is then the CSR order.
        if (!graph.as_coo) {
            CooGraph ordered = graph.edges;
            const auto rows = expand_rows(forward_.view());
            ordered.row_idx = rows;
            ordered.col_idx = forward_.col_idx;
            case_.edges = ordered;
            forward_ = coo_to_csr(case_.edges.view(), &forward_id_);
            reversed_ = coo_to_csr({graph.edges.n_cols, graph.edges.n_rows, graph.edges.m(), case_.edges.col_idx.data(),
                                    case_.edges.row_idx.data(), nullptr, MemorySpace::host},
                                   &reversed_id_);
        }
        upload(registry, device);
    }

    Graph& graph() { return *graph_; }

    Inputs inputs(const Problem& p, unsigned seed) const {
        const auto draw_one = [&](const ArraySpec& spec, std::size_t number) {
            return draw(p, spec, seed + static_cast<unsigned>(number));
        };
        return Inputs(graph_->query(p), csr(p), edge_id(p), draw_one, numbers_of(p));
    }

    std::vector<Oracle> oracles(const Problem& p, const Inputs& in, const SampleRule* rule) const {
        return reference::oracles(p, csr(p), edge_id(p), in.operands(), rule);
    }

private:
    CsrView csr(const Problem& p) const {
        return p.direction == Direction::forward ? forward_.view() : reversed_.view();
    }
    const std::int32_t* edge_id(const Problem& p) const {
        return p.direction == Direction::forward ? forward_id_.data() : reversed_id_.data();
    }

    void upload(const Registry& registry, const Device& device) {
        const bool coo = case_.as_coo;
#if GNNTUNE_WITH_CUDA
        if (device.backend == Backend::cuda) {
            if (coo) {
                auto arrays = std::make_shared<DeviceCoo>(case_.edges.view());
                graph_ = std::make_unique<Graph>(registry, device, arrays->view(), arrays);
            } else {
                auto arrays = std::make_shared<DeviceCsr>(forward_.view());
                graph_ = std::make_unique<Graph>(registry, device, arrays->view(), arrays);
            }
            return;
        }
#endif
        if (coo) {
            graph_ = std::make_unique<Graph>(registry, device, case_.edges.view());
        } else {
            graph_ = std::make_unique<Graph>(registry, device, forward_.view());
        }
    }

    GraphCase case_;
    HostVector<std::int32_t> forward_id_;
    HostVector<std::int32_t> reversed_id_;
    CsrGraph forward_;
    CsrGraph reversed_;
    std::unique_ptr<Graph> graph_;
};

// Arrays of one problem on the backend, shifted by `offset` floats from a 256-byte boundary.
struct Memory {
    Memory(Backend backend, const Query& query, const Inputs& in, std::size_t workspace_bytes, std::size_t offset)
        : workspace(backend, (workspace_bytes + 3) / 4), operands(in.operands()) {
        for (const ArraySpec& spec : arrays_of(query)) {
            const auto size = static_cast<std::size_t>(spec.size());
            if (spec.is_input()) {
                inputs.emplace_back(backend, size, offset);
                operands.*spec.input = inputs.back().floats();
            } else {
                outputs.emplace_back(backend, size, offset);
                if (spec.output) operands.*spec.output = outputs.back().floats();
                if (spec.index_output)
                    operands.*spec.index_output = reinterpret_cast<std::int32_t*>(outputs.back().data());
            }
        }
        set(in);
        workspace.fill(0xffffffffU);
    }
    void set(const Inputs& in) {
        for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].assign(in.arrays()[i].data());
    }
    void poison(std::uint32_t word) {
        for (GuardedWords& out : outputs) out.fill(word);
    }
    std::vector<std::vector<std::uint32_t>> results() {
        std::vector<std::vector<std::uint32_t>> all;
        for (GuardedWords& out : outputs) all.push_back(out.words());
        return all;
    }
    bool guards_intact() {
        bool intact = workspace.guards_intact();
        for (GuardedWords& out : outputs) intact = out.guards_intact() && intact;
        return intact;
    }
    bool unchanged(const Inputs& in) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const auto words = inputs[i].words();
            if (!words.empty() && std::memcmp(words.data(), in.arrays()[i].data(), words.size() * 4) != 0) return false;
        }
        return true;
    }

    std::deque<GuardedWords> inputs;
    std::deque<GuardedWords> outputs;
    GuardedWords workspace;
    Operands operands;
};

void wait(const Device& device) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) GNNTUNE_CUDA(cudaDeviceSynchronize());
#else
    (void)device;
#endif
}

std::string compare_with(const Oracle& oracle, const std::vector<std::uint32_t>& words, Precision precision) {
    const auto result = reference::compare(oracle, words.data(), precision);
    if (result.pass()) return {};
    const auto at = static_cast<std::size_t>(result.worst_at);
    float got = 0;
    std::memcpy(&got, &words[at], 4);
    const std::string text =
        oracle.index ? std::to_string(static_cast<std::int32_t>(words[at])) : std::to_string(got);
    return "element " + std::to_string(result.worst_at) + " is " + text + ", expected " +
           std::to_string(oracle.value[at]) + "; error is " + std::to_string(result.worst_ratio) +
           " times the tolerance";
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
    }

    void check(const Config& config) {
        where_ = config.text() + " on " + to_text(problem_);
        try {
#if GNNTUNE_WITH_CUDA
            std::unique_ptr<CudaStream> stream;
            if (device_.backend == Backend::cuda) stream = std::make_unique<CudaStream>();
            StreamHandle handle = stream ? stream->get() : nullptr;
#else
            StreamHandle handle = nullptr;
#endif
            const Plan plan(fixture_.graph(), problem_, config, handle);
            set_rule(plan);
            check_run(plan, handle, 0, "oracle");
            if (plan.variant().operand_alignment <= 4) {
                check_run(plan, handle, 1, "misaligned");
            } else {
                check_refuses_misaligned(plan, handle);
            }
#if GNNTUNE_WITH_CUDA
            if (device_.backend == Backend::cuda && plan.capturable()) check_capture(plan, handle);
#endif
        } catch (const std::exception& e) {
            fail("runs", e.what());
        }
    }

private:
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
    }

    std::string wrong_output(const std::vector<Oracle>& expected, const std::vector<std::vector<std::uint32_t>>& words,
                             Precision precision) const {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string wrong = compare_with(expected[i], words[i], precision);
            if (!wrong.empty()) return output_names_[i] + ": " + wrong;
        }
        return {};
    }

    void check_run(const Plan& plan, StreamHandle stream, std::size_t offset, const std::string& oracle_check) {
        Memory memory(device_.backend, query_, inputs_, plan.workspace_bytes(), offset);
        std::vector<std::vector<std::uint32_t>> first;
        const int repeats = plan.deterministic() && offset == 0 ? 3 : 1;
        for (int r = 0; r < repeats; ++r) {
            memory.poison(kPoison + static_cast<std::uint32_t>(r));
            wait(device_);
            plan.run(memory.operands, memory.workspace.data(), stream);
            wait(device_);
            auto words = memory.results();
            if (r > 0) {
                if (words != first) fail("repeats", "run " + std::to_string(r + 1) + " differs from the first");
                continue;
            }
            first = std::move(words);
        }
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (std::find(first[i].begin(), first[i].end(), kPoison) != first[i].end()) {
                fail("written", output_names_[i] + ": some of the " + std::to_string(first[i].size()) +
                                    " elements were not written");
                return;
            }
        }
        const std::string wrong = wrong_output(oracles_, first, plan.variant().precision);
        if (!wrong.empty()) fail(oracle_check, wrong);
        if (!memory.guards_intact()) fail("guards", "a guard word was overwritten");
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
        const Inputs other = fixture_.inputs(problem_, 77);
        const auto expected = fixture_.oracles(problem_, other, rule_ ? &*rule_ : nullptr);
        memory.set(other);
        memory.poison(kPoison);
        wait(device_);
        GNNTUNE_CUDA(cudaGraphLaunch(executable, stream));
        wait(device_);
        const std::string wrong = wrong_output(expected, memory.results(), plan.variant().precision);
        if (!wrong.empty()) fail("capture", "replay with other values: " + wrong);
        (void)cudaGraphExecDestroy(executable);
        (void)cudaGraphDestroy(graph);
    }
#endif

    const Device& device_;
    Fixture& fixture_;
    Problem problem_;
    std::vector<Failure>& failures_;
    Query query_;
    std::vector<std::string> output_names_;
    Inputs inputs_;
    std::optional<SampleRule> rule_;
    std::vector<Oracle> oracles_;
    std::string where_;
};

}  // namespace

std::vector<Problem> problems(Op op, const GraphCase& graph) {
    std::vector<Problem> out;
    const bool short_run = graph.large || std::getenv("GNNTUNE_CONFORMANCE_SHORT");
    const auto add = [&](std::int32_t k, std::int32_t heads, bool weighted, auto change) {
        for (const Direction direction : {Direction::forward, Direction::reversed}) {
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
            if (op == Op::sddmm) break;
            for (const std::int32_t k : {3, 64, 130}) {
                if (short_run && k != 3) continue;
                for (const bool weighted : {false, true}) {
                    add(k, 1, weighted, [](Problem& p) { p.self_loop = true; });
                    if (op == Op::spmm) add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::mean; });
                }
            }
            break;
        case Op::gat:
        case Op::gat_grad:
        case Op::agnn:
        case Op::agnn_grad:
            for (const std::int32_t heads : {1, 3, 8}) {
                for (const std::int32_t k : {1, 7, 16, 33, 64, 130}) {
                    if (short_run && k != 7 && k != 16) continue;
                    add(k, heads, false, as_is);
                }
            }
            break;
        case Op::edge_softmax:
            for (const std::int32_t heads : {1, 2, 3, 8}) add(1, heads, false, as_is);
            break;
        case Op::gcn_norm:
            for (const bool weighted : {false, true}) add(1, 1, weighted, as_is);
            break;
        case Op::coo_to_csr:
        case Op::csr_to_csc:
        case Op::sgt:
            add(1, 1, false, as_is);
            break;
    }
    return out;
}

std::vector<Params> corners(const Variant& variant, const Query& query) {
    const auto space = variant.space(query);
    std::vector<Params> out{variant.default_params(query)};
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
        ConfigChecker checker(device, fixture, problem, outcome.failures);
        for (const Params& params : corners(variant, query)) {
            checker.check({variant.id, params});
            ++outcome.configs;
        }
    }
    return outcome;
}

}  // namespace gnntune::conformance
