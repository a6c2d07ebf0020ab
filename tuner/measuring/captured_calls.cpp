#include "tuner/measuring/captured_calls.hpp"

#include <string>

#include "core/common/error.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#endif

namespace gnntune::tuner {

#if GNNTUNE_WITH_CUDA

struct CapturedCalls::Graph {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;

    explicit Graph(cudaStream_t s) : stream(s) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
        if (executable) GNNTUNE_CUDA_NOEXCEPT(cudaGraphExecDestroy(executable));
        if (graph) GNNTUNE_CUDA_NOEXCEPT(cudaGraphDestroy(graph));
    }
};

CapturedCalls::CapturedCalls(const std::function<void()>& enqueue, StreamHandle stream)
    : graph_(std::make_unique<Graph>(static_cast<cudaStream_t>(stream))) {
    GNNTUNE_CUDA(cudaStreamBeginCapture(graph_->stream, cudaStreamCaptureModeThreadLocal));
    std::string why;
    try {
        for (int i = 0; i < kCalls; ++i) enqueue();
    } catch (const std::exception& e) {
        why = e.what();
    }
    // A capture has to end whatever happened in it, or the stream is lost.
    const cudaError_t ended = cudaStreamEndCapture(graph_->stream, &graph_->graph);
    if (why.empty() && ended != cudaSuccess) why = cudaGetErrorName(ended);
    if (!why.empty()) {
        (void)cudaGetLastError();
        throw unsupported("its launches cannot be captured in a CUDA graph: " + why);
    }
    GNNTUNE_CUDA(cudaGraphInstantiate(&graph_->executable, graph_->graph, 0));
    GNNTUNE_CUDA(cudaGraphUpload(graph_->executable, graph_->stream));
}

void CapturedCalls::launch() const {
    GNNTUNE_CUDA(cudaGraphLaunch(graph_->executable, graph_->stream));
}

#else

struct CapturedCalls::Graph {};

CapturedCalls::CapturedCalls(const std::function<void()>&, StreamHandle) {
    throw unsupported("this build has no CUDA and so no CUDA graphs");
}

void CapturedCalls::launch() const {}

#endif

CapturedCalls::~CapturedCalls() = default;
CapturedCalls::CapturedCalls(CapturedCalls&&) noexcept = default;
CapturedCalls& CapturedCalls::operator=(CapturedCalls&&) noexcept = default;

}  // namespace gnntune::tuner
