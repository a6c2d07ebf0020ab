// A graph on one backend, with its identity and the formats that have been built for it.
//
// Thread-safety: all member functions may be called from many threads; formats are built once, under a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/common/memory_source.hpp"
#include "core/features/features.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/graph/formats.hpp"
#include "core/graph/types.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

/// A built format and what building it cost.
struct BuiltFormat {
    std::shared_ptr<const void> data;
    double build_us =
        0;  ///< wall time of the build, device work included (not in stream order); 0 for what was handed in
    std::size_t bytes = 0;  ///< memory held by it
};

/// Which formats of one direction a graph has, and what it was handed in as.
struct PresentFormats {
    std::string_view base;
    Direction direction = Direction::forward;
    std::vector<std::string> ids;

    bool has(std::string_view id) const { return std::find(ids.begin(), ids.end(), id) != ids.end(); }
};

/// Plain memory of the device's backend.
std::shared_ptr<MemorySource> plain_memory(const Device& device);

class Graph {
public:
    /// Borrows the arrays of `csr` or `coo` (host pointers for the cpu backend, device pointers of `device` for cuda);
    /// they must stay valid and unchanged while the graph lives, unless `storage` keeps them alive.
    /// The caller's edge order is the order of these arrays.
    Graph(const Registry& registry, const Device& device, const CsrView& csr, std::shared_ptr<const void> storage = {});
    Graph(const Registry& registry, const Device& device, const CooView& coo, std::shared_ptr<const void> storage = {});

    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    std::int32_t n_rows() const { return n_rows_; }
    std::int32_t n_cols() const { return n_cols_; }
    std::int64_t m() const { return m_; }
    const Device& device() const { return device_; }
    const Registry& registry() const { return registry_; }
    /// The format the caller handed in: "csr" or "coo".
    std::string_view base_format() const { return base_format_; }

    /// Identity of the structure. Computed at first use; synchronises.
    Fingerprint fingerprint();
    /// Shape. Computed at first use; synchronises.
    const Features& features();
    /// Hands over features that are known already (from a store), so that they are not computed again.
    void set_features(Features features);

    /// From now on formats and plans are complete in the order of the stream that they are built on, which is to be one for
    /// all of them, and building waits for no stream but where the host has to read something. Memory sources have to keep
    /// that order too. For the cuda backend; before the graph is shared.
    void build_in_stream_order() { in_stream_order_ = device_.backend == Backend::cuda; }
    bool in_stream_order() const { return in_stream_order_; }

    /// Query for a problem on this graph; sizes follow the direction. Features are attached if they are known.
    Query query(const Problem& problem) const;

    /// The format, built now if it does not exist yet. Throws ErrorKind::unsupported if nothing builds it here.
    BuiltFormat format(std::string_view id, Direction direction, StreamHandle stream);
    bool has_format(std::string_view id, Direction direction) const;
    PresentFormats present(Direction direction) const;
    /// Another number whenever what a choice may depend on has changed: formats built or forgotten, features found.
    std::uint64_t revision() const { return revision_.load(std::memory_order_acquire); }
    /// Where formats that are built from now on lie: counted for this graph, taken from `source`, or from plain
    /// allocation if that is null. Call it before the first format is built.
    void set_format_memory(std::shared_ptr<MemorySource> source);
    /// Bytes of the formats that were built, those among them that were forgotten and that plans still use; not the
    /// caller's arrays.
    std::size_t format_bytes() const { return format_memory_->held_bytes(); }
    /// Forgets every format that was built and that no plan uses any more is freed. What the caller handed in stays.
    void release_formats();

    template <typename F>
    std::shared_ptr<const F> format_as(std::string_view id, Direction direction, StreamHandle stream) {
        return std::static_pointer_cast<const F>(format(id, direction, stream).data);
    }

private:
    using Key = std::pair<std::string, Direction>;

    MemoryKind memory_kind() const { return device_.backend == Backend::cuda ? MemoryKind::device : MemoryKind::host; }
    void put_base(std::string_view id, std::shared_ptr<const void> data);

    const Registry& registry_;
    Device device_;
    std::int32_t n_rows_;
    std::int32_t n_cols_;
    std::int64_t m_;
    std::string_view base_format_;
    bool in_stream_order_ = false;
    std::shared_ptr<const void> storage_;
    // Recursive: building one format may ask for another.
    mutable std::recursive_mutex mutex_;
    std::shared_ptr<CountingMemory> format_memory_;  // never null
    std::map<Key, BuiltFormat, std::less<>> formats_;
    std::unique_ptr<Fingerprint> fingerprint_;
    std::unique_ptr<Features> features_;
    std::atomic<std::uint64_t> revision_ = 0;
};

}  // namespace gnntune
