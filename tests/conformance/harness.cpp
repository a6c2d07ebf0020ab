#include "tests/conformance/harness.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/graph/convert.hpp"
#include "core/reference/oracle.hpp"
#include "tests/conformance/guarded.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_graph.hpp"
#include "core/gpu/stream.hpp"
#endif

namespace gnntune::conformance {
namespace {

using reference::Oracle;

// Normal values of both signs: nothing that hides an index error behind equal numbers.
std::vector<float> normal_values(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> out(n);
    for (auto& v : out) v = normal(random);
    return out;
}

struct Inputs {
    std::vector<float> x;
    std::vector<float> x_row;
    std::vector<float> weight;
};

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
        const Query q = graph_->query(p);
        const auto width = static_cast<std::size_t>(p.k) * static_cast<std::size_t>(p.heads);
        Inputs in;
        in.x = normal_values(static_cast<std::size_t>(q.n_cols) * width, seed);
        in.x_row = normal_values(p.op == Op::sddmm ? static_cast<std::size_t>(q.n_rows) * width : 0, seed + 1);
        in.weight = normal_values(p.weighted ? static_cast<std::size_t>(q.m) : 0, seed + 2);
        return in;
    }

    Oracle oracle(const Problem& p, const Inputs& in) const {
        const bool forward = p.direction == Direction::forward;
        const CsrView csr = forward ? forward_.view() : reversed_.view();
        const std::int32_t* id = forward ? forward_id_.data() : reversed_id_.data();
        const float* weight = p.weighted ? in.weight.data() : nullptr;
        if (p.op == Op::sddmm) return reference::sddmm(csr, weight, id, in.x_row.data(), in.x.data(), p.k);
        return reference::spmm(csr, weight, id, in.x.data(), p.k);
    }

private:
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

// Operands of one problem on the backend, shifted by `offset` floats from a 256-byte boundary.
struct Memory {
    Memory(Backend backend, const Problem& p, const Inputs& in, std::size_t outputs, std::size_t workspace_bytes,
           std::size_t offset)
        : x(backend, in.x.size(), offset),
          x_row(backend, in.x_row.size(), offset),
          weight(backend, in.weight.size(), offset),
          y(backend, outputs, offset),
          workspace(backend, (workspace_bytes + 3) / 4) {
        set(in);
        workspace.fill(0xffffffffU);
        operands = {x.floats(), in.x_row.empty() ? nullptr : x_row.floats(), p.weighted ? weight.floats() : nullptr,
                    y.floats()};
    }
    void set(const Inputs& in) {
        x.assign(in.x.data());
        x_row.assign(in.x_row.data());
        weight.assign(in.weight.data());
    }

    GuardedWords x;
    GuardedWords x_row;
    GuardedWords weight;
    GuardedWords y;
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

bool same_words(GuardedWords& memory, const std::vector<float>& expected) {
    const auto words = memory.words();
    return expected.empty() || std::memcmp(words.data(), expected.data(), expected.size() * 4) == 0;
}

std::string compare_with(const Oracle& oracle, const std::vector<std::uint32_t>& words, Precision precision) {
    const auto result = reference::compare(oracle, reinterpret_cast<const float*>(words.data()), precision);
    if (result.pass()) return {};
    float got = 0;
    std::memcpy(&got, &words[static_cast<std::size_t>(result.worst_at)], 4);
    return "element " + std::to_string(result.worst_at) + " is " + std::to_string(got) + ", expected " +
           std::to_string(oracle.value[static_cast<std::size_t>(result.worst_at)]) + "; error is " +
           std::to_string(result.worst_ratio) + " times the tolerance";
}

class ConfigChecker {
public:
    ConfigChecker(const Device& device, Fixture& fixture, const Problem& problem, std::vector<Failure>& failures)
        : device_(device), fixture_(fixture), problem_(problem), failures_(failures) {
        inputs_ = fixture.inputs(problem, 11);
        oracle_ = fixture.oracle(problem, inputs_);
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

    void check_run(const Plan& plan, StreamHandle stream, std::size_t offset, const std::string& oracle_check) {
        Memory memory(device_.backend, problem_, inputs_, static_cast<std::size_t>(oracle_.size()),
                      plan.workspace_bytes(), offset);
        std::vector<std::uint32_t> first;
        const int repeats = plan.deterministic() && offset == 0 ? 3 : 1;
        for (int r = 0; r < repeats; ++r) {
            memory.y.fill(kPoison + static_cast<std::uint32_t>(r));
            wait(device_);
            plan.run(memory.operands, memory.workspace.data(), stream);
            wait(device_);
            auto words = memory.y.words();
            if (r > 0) {
                if (words != first) fail("repeats", "run " + std::to_string(r + 1) + " differs from the first");
                continue;
            }
            first = std::move(words);
        }
        const bool left = std::any_of(first.begin(), first.end(), [](std::uint32_t w) { return w == kPoison; });
        if (left) {
            fail("written", "some of the " + std::to_string(first.size()) + " elements were not written");
        } else if (const std::string wrong = compare_with(oracle_, first, plan.variant().precision); !wrong.empty()) {
            fail(oracle_check, wrong);
        }
        if (!memory.y.guards_intact() || !memory.workspace.guards_intact())
            fail("guards", "a guard word was overwritten");
        if (!same_words(memory.x, inputs_.x) || !same_words(memory.x_row, inputs_.x_row) ||
            !same_words(memory.weight, inputs_.weight)) {
            fail("inputs", "an operand was changed");
        }
    }

    // A variant that needs aligned operands says so instead of running.
    void check_refuses_misaligned(const Plan& plan, StreamHandle stream) {
        Memory memory(device_.backend, problem_, inputs_, static_cast<std::size_t>(oracle_.size()),
                      plan.workspace_bytes(), 1);
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
        Memory memory(device_.backend, problem_, inputs_, static_cast<std::size_t>(oracle_.size()),
                      plan.workspace_bytes(), 0);
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
        const Oracle expected = fixture_.oracle(problem_, other);
        memory.set(other);
        memory.y.fill(kPoison);
        wait(device_);
        GNNTUNE_CUDA(cudaGraphLaunch(executable, stream));
        wait(device_);
        const std::string wrong = compare_with(expected, memory.y.words(), plan.variant().precision);
        if (!wrong.empty()) fail("capture", "replay with other values: " + wrong);
        (void)cudaGraphExecDestroy(executable);
        (void)cudaGraphDestroy(graph);
    }
#endif

    const Device& device_;
    Fixture& fixture_;
    Problem problem_;
    std::vector<Failure>& failures_;
    Inputs inputs_;
    Oracle oracle_;
    std::string where_;
};

}  // namespace

std::vector<Problem> problems(Op op, const GraphCase& graph) {
    std::vector<Problem> out;
    for (const std::int32_t k : widths(graph)) {
        for (const bool weighted : {false, true}) {
            for (const Direction direction : {Direction::forward, Direction::reversed}) {
                Problem p;
                p.op = op;
                p.k = k;
                p.weighted = weighted;
                p.direction = direction;
                out.push_back(p);
            }
        }
    }
    return out;
}

std::vector<Params> corners(const Variant& variant, const Query& query) {
    const auto space = variant.space(query);
    std::vector<Params> out{variant.default_params(query)};
    if (space.size() <= 6) {
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
