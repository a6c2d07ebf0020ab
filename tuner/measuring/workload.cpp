#include "tuner/measuring/workload.hpp"

#include <algorithm>
#include <cmath>

#include "core/common/error.hpp"
#include "core/common/team.hpp"
#include "core/graph/convert.hpp"
#include "core/graph/fingerprint_mix.hpp"
#include "core/ops/oracles.hpp"
#include "tuner/measuring/host_memory.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/stream.hpp"
#include "core/reference/compare_gpu.hpp"
#endif

namespace gnntune::tuner {
namespace {

// Value i of the sequence that `seed` names: 24 random bits, never 0, both signs. Independent of threads.
HostVector<float> uniform_values(std::size_t n, std::uint64_t seed) {
    HostVector<float> out(n);
    reserve_team(team_size());
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = fingerprint_detail::mix64(i * 0x9e3779b97f4a7c15ull + seed);
        const auto integer = static_cast<std::int32_t>(bits >> 40);  // 24 bits
        out[i] = (static_cast<float>(integer) + 0.5F) / 8388608.0F - 1.0F;
    }
    return out;
}

// gcn_norm takes square roots of sums of weights. What the dtype has no number for would be infinite, and sums of it none.
bool may_be(const ArraySpec& spec, const HostVector<float>& weights) {
    const float largest = spec.dtype == DType::f16 ? 65504.0F : 3.38953139e38F;  // bf16's
    return std::all_of(weights.begin(), weights.end(), [&](float w) {
        return (spec.fill != Fill::positive || w >= 0.0F) && (spec.dtype == DType::f32 || std::abs(w) <= largest);
    });
}

// Weights of the graph, for every head alike where heads have their own.
HostVector<float> repeat(const HostVector<float>& weights, std::int64_t width) {
    HostVector<float> out(weights.size() * static_cast<std::size_t>(width));
    auto at = out.begin();
    for (const float w : weights) at = std::fill_n(at, width, w);
    return out;
}

}  // namespace

GraphWorkload::GraphWorkload(const Registry& registry, const Device& device, CsrGraph graph) : host_(std::move(graph)) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) {
        GNNTUNE_CUDA(cudaSetDevice(device.ordinal));
        stream_ = std::make_shared<CudaStream>();
        row_ptr_ = Array(Backend::cuda, host_.row_ptr.data(), host_.row_ptr.size() * sizeof(std::int32_t));
        col_idx_ = Array(Backend::cuda, host_.col_idx.data(), host_.col_idx.size() * sizeof(std::int32_t));
        const CsrView view{
            host_.n_rows, host_.n_cols,       host_.m(), row_ptr_.as<std::int32_t>(), col_idx_.as<std::int32_t>(),
            nullptr,      MemorySpace::device};
        graph_ = std::make_unique<Graph>(registry, device, view);
        return;
    }
#endif
    CsrView view = host_.view();
    view.edge_weight = nullptr;
    graph_ = std::make_unique<Graph>(registry, device, view);
}

GraphWorkload::GraphWorkload(std::unique_ptr<Graph> graph, CsrGraph host)
    : host_(std::move(host)), graph_(std::move(graph)) {
#if GNNTUNE_WITH_CUDA
    if (graph_->device().backend == Backend::cuda) stream_ = std::make_shared<CudaStream>();
#endif
}

const CscGraph& GraphWorkload::host_reversed() {
    if (!reversed_) {
        CsrView view = host_.view();
        view.edge_weight = nullptr;
        reversed_ = std::make_unique<CscGraph>(csr_to_csc(view));
    }
    return *reversed_;
}

StreamHandle GraphWorkload::stream() const {
#if GNNTUNE_WITH_CUDA
    if (stream_) return stream_->get();
#endif
    return nullptr;
}

void GraphWorkload::synchronise() const {
#if GNNTUNE_WITH_CUDA
    if (stream_) stream_->synchronize();
#endif
}

ProblemWorkload::ProblemWorkload(GraphWorkload& graph, const Problem& problem, std::uint64_t seed)
    : graph_(graph), problem_(problem), query_(graph.graph().query(problem)) {
    validate(problem);
    require_host_memory(query_);
    const CsrGraph& g = graph.host();
    csr_ = g.view();
    if (problem.direction == Direction::reversed) {
        const CscGraph& r = graph.host_reversed();
        csr_ = {g.n_cols, g.n_rows, g.m(), r.col_ptr.data(), r.row_idx.data(), nullptr, MemorySpace::host};
        edge_id_ = r.edge_id.data();
    }
    Operands numbers;
    numbers.seed = seed;
    inputs_ = reference::Inputs(
        query_, csr_, edge_id_,
        [&](const ArraySpec& spec, std::size_t number) {
            const bool weights = spec.name == "edge_weight" && spec.fill != Fill::logits;
            if (weights && g.weighted() && may_be(spec, g.edge_weight)) return repeat(g.edge_weight, spec.width);
            auto values = uniform_values(static_cast<std::size_t>(spec.size()), seed * 16 + number);
            for (float& v : values) {
                if (spec.fill == Fill::positive) v = std::abs(v);
                if (spec.fill == Fill::logits) v *= 4.0F;
            }
            return values;
        },
        numbers);
    operands_ = inputs_.operands();
    const Backend backend = graph.device().backend;
    std::size_t number = 0;
    for (const ArraySpec& spec : arrays_of(query_)) {
        const std::size_t bytes = spec.bytes();
        if (spec.is_input()) {
            memory_.emplace_back(backend, inputs_.stored(number++), bytes);
            spec.bind(operands_, memory_.back().data());
            continue;
        }
        memory_.emplace_back(backend, bytes);
        outputs_.push_back(memory_.size() - 1);
        spec.bind(operands_, memory_.back().data());
    }
}

void ProblemWorkload::prepare_oracles() {
    try {
        expected(std::nullopt);
    } catch (const Error& e) {
        if (e.kind() == ErrorKind::out_of_memory) throw;  // of all else check() tells
    }
}

void* ProblemWorkload::workspace(std::size_t bytes) {
    if (bytes > workspace_.bytes()) {
        graph_.synchronise();
        workspace_ = Array(graph_.device().backend, bytes);
    }
    return workspace_.data();
}

const ProblemWorkload::Expected& ProblemWorkload::expected(const std::optional<SampleRule>& rule) {
    for (const Expected& e : expected_) {
        if (e.rule == rule) return e;
    }
    // Memory for a few samples: a tuner walks the configs of one after the other.
    if (expected_.size() > 4) expected_.erase(expected_.begin() + 1);
    Expected e;
    e.rule = rule;
    e.oracles = reference::oracles(problem_, csr_, edge_id_, inputs_.operands(), rule ? &*rule : nullptr);
#if GNNTUNE_WITH_CUDA
    if (graph_.device().backend == Backend::cuda) {
        for (reference::Oracle& oracle : e.oracles) {
            e.on_device.push_back(std::make_shared<reference::DeviceOracle>(oracle));
            oracle = {};  // the device holds it now
        }
    }
#endif
    expected_.push_back(std::move(e));
    return expected_.back();
}

reference::Comparison ProblemWorkload::compare(const Expected& e, Precision precision) const {
    reference::Comparison worst;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const void* result = memory_[outputs_[i]].data();
        reference::Comparison c;
#if GNNTUNE_WITH_CUDA
        if (!e.on_device.empty()) {
            c = e.on_device[i]->compare(result, precision, static_cast<cudaStream_t>(graph_.stream()));
        } else {
            c = reference::compare(e.oracles[i], result, precision);
        }
#else
        c = reference::compare(e.oracles[i], result, precision);
#endif
        worst.max_error = std::max(worst.max_error, c.max_error);
        worst.mean_error = std::max(worst.mean_error, c.mean_error);
        if (c.worst_ratio > worst.worst_ratio) {
            worst.worst_ratio = c.worst_ratio;
            worst.worst_at = c.worst_at;
        }
    }
    return worst;
}

reference::Comparison ProblemWorkload::check(const Plan& plan) {
    const Variant& v = plan.variant();
    std::optional<SampleRule> rule;
    if (v.sampling) rule = v.sampling(plan.config().params);
    expected(std::nullopt);
    for (const std::size_t i : outputs_) memory_[i].fill(0xff);  // a NaN in every element
    run(plan);
    graph_.synchronise();
    reference::Comparison result = compare(expected(rule), v.precision);
    if (rule) {
        const reference::Comparison exact = compare(expected(std::nullopt), v.precision);
        result.max_error = exact.max_error;
        result.mean_error = exact.mean_error;
    }
    return result;
}

}  // namespace gnntune::tuner
