#include "tuner/workload.hpp"

#include "core/common/error.hpp"
#include "core/graph/convert.hpp"
#include "core/graph/fingerprint_mix.hpp"

namespace gnntune::tuner {
namespace {

// Value i of the sequence that `seed` names: 24 random bits, never 0, both signs. Independent of threads.
HostVector<float> uniform_values(std::size_t n, std::uint64_t seed) {
    HostVector<float> out(n);
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = fingerprint_detail::mix64(i * 0x9e3779b97f4a7c15ull + seed);
        const auto integer = static_cast<std::int32_t>(bits >> 40);  // 24 bits
        out[i] = (static_cast<float>(integer) + 0.5F) / 8388608.0F - 1.0F;
    }
    return out;
}

}  // namespace

GraphWorkload::GraphWorkload(const Registry& registry, const Device& device, CsrGraph graph) : host_(std::move(graph)) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) {
        GNNTUNE_CUDA(cudaSetDevice(device.ordinal));
        stream_ = std::make_unique<CudaStream>();
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
    : graph_(graph), problem_(problem) {
    validate(problem);
    const Query q = graph.graph().query(problem);
    const auto width = static_cast<std::size_t>(problem.k) * static_cast<std::size_t>(problem.heads);
    const auto rows = static_cast<std::size_t>(q.n_rows) * width;
    const auto m = static_cast<std::size_t>(q.m);
    const bool dots = problem.op == Op::sddmm;
    outputs_ = dots ? m : rows;
    host_x_ = uniform_values(static_cast<std::size_t>(q.n_cols) * width, seed * 3 + 1);
    if (dots) host_x_row_ = uniform_values(rows, seed * 3 + 2);
    if (problem.weighted) {
        host_weight_ = graph.host().weighted() ? graph.host().edge_weight : uniform_values(m, seed * 3 + 3);
    }
    const Backend backend = graph.device().backend;
    x_ = Array(backend, host_x_.data(), host_x_.size() * sizeof(float));
    x_row_ = Array(backend, host_x_row_.data(), host_x_row_.size() * sizeof(float));
    weight_ = Array(backend, host_weight_.data(), host_weight_.size() * sizeof(float));
    y_ = Array(backend, outputs_ * sizeof(float));
}

Operands ProblemWorkload::operands() const {
    return {x_.as<float>(), x_row_.as<float>(), weight_.as<float>(), y_.as<float>()};
}

void* ProblemWorkload::workspace(std::size_t bytes) {
    if (bytes > workspace_.bytes()) {
        graph_.synchronise();
        workspace_ = Array(graph_.device().backend, bytes);
    }
    return workspace_.data();
}

void ProblemWorkload::make_oracle() {
    const CsrGraph& g = graph_.host();
    CsrView csr = g.view();
    const std::int32_t* edge_id = nullptr;
    if (problem_.direction == Direction::reversed) {
        const CscGraph& r = graph_.host_reversed();
        csr = {g.n_cols, g.n_rows, g.m(), r.col_ptr.data(), r.row_idx.data(), nullptr, MemorySpace::host};
        edge_id = r.edge_id.data();
    }
    const float* weight = problem_.weighted ? host_weight_.data() : nullptr;
    switch (problem_.op) {
        case Op::spmm:
            oracle_ =
                std::make_unique<reference::Oracle>(reference::spmm(csr, weight, edge_id, host_x_.data(), problem_.k));
            break;
        case Op::sddmm:
            oracle_ = std::make_unique<reference::Oracle>(
                reference::sddmm(csr, weight, edge_id, host_x_row_.data(), host_x_.data(), problem_.k));
            break;
        default:
            throw unsupported("there is no oracle for " + std::string(to_text(problem_.op)) + " in this build");
    }
#if GNNTUNE_WITH_CUDA
    if (graph_.device().backend == Backend::cuda) {
        device_oracle_ = std::make_unique<reference::DeviceOracle>(*oracle_);
        oracle_ = std::make_unique<reference::Oracle>();  // the device holds it now
    }
#endif
}

reference::Comparison ProblemWorkload::check(const Plan& plan) {
    if (!oracle_) make_oracle();
    y_.fill(0xff);  // a NaN in every element
    run(plan);
    graph_.synchronise();
#if GNNTUNE_WITH_CUDA
    if (device_oracle_) {
        return device_oracle_->compare(y_.as<float>(), plan.variant().precision,
                                       static_cast<cudaStream_t>(graph_.stream()));
    }
#endif
    return reference::compare(*oracle_, y_.as<float>(), plan.variant().precision);
}

}  // namespace gnntune::tuner
