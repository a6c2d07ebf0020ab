// Policy::graph: calls of a plan in a CUDA graph, as an application has them that captures its whole step.
#pragma once

#include <functional>
#include <memory>

#include "core/registry/variant.hpp"

namespace gnntune::tuner {

class CapturedCalls {
public:
    /// Calls in a graph. What a launch of the graph costs is shared by them, as in a captured step.
    static constexpr int kCalls = 10;

    /// Captures kCalls calls of `enqueue`, which enqueues work on `stream` and keeps the addresses that it is given.
    /// Throws ErrorKind::unsupported in words where the work cannot be captured, and in a build without CUDA.
    CapturedCalls(const std::function<void()>& enqueue, StreamHandle stream);
    ~CapturedCalls();
    CapturedCalls(CapturedCalls&&) noexcept;
    CapturedCalls& operator=(CapturedCalls&&) noexcept;

    /// Enqueues the graph on the stream.
    void launch() const;

private:
    struct Graph;
    std::unique_ptr<Graph> graph_;
};

}  // namespace gnntune::tuner
