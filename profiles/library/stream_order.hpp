// The stream of a graph that is planned in stream order: what was built for it is complete there, and elsewhere once
// somebody has waited.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "profiles/library/device_guard.hpp"

namespace gnntune::library {

/// Shared by a graph and its plans. Thread-safe.
class StreamOrder {
public:
    /// Held while a plan of the graph is made.
    class Building {
    public:
        Building(StreamOrder& order, const Device& device, StreamHandle stream) : order_(order), lock_(order.mutex_) {
            if (order.builds_ > 0 && stream != order.stream_) wait_for(device, order.stream_, "creating a plan");
            order.stream_ = stream;
        }
        ~Building() { ++order_.builds_; }
        Building(const Building&) = delete;
        Building& operator=(const Building&) = delete;

    private:
        StreamOrder& order_;
        const std::lock_guard<std::mutex> lock_;
    };

    /// Before something that was built runs on `stream`: waits if that is not the stream of the builds, and nobody has
    /// waited for the last of them. `stream` may be under capture.
    void before_run(StreamHandle stream) {
        if (stream == stream_.load(std::memory_order_relaxed) || waited_ == builds_) return;
        const std::lock_guard lock(mutex_);
        wait_beside_captures(stream_);
        waited_ = builds_.load();
    }

private:
    std::mutex mutex_;
    std::atomic<StreamHandle> stream_ = nullptr;  ///< of the last build
    std::atomic<std::uint64_t> builds_ = 0;
    std::atomic<std::uint64_t> waited_ = 0;  ///< builds that are known to be complete
};

}  // namespace gnntune::library
