#include "profiles/library/tiled_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/common/error.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/explain.hpp"
#include "profiles/library/memory.hpp"
#include "profiles/library/run.hpp"
#include "profiles/library/transient.hpp"

namespace gnntune::library {
namespace {

constexpr std::size_t kBoundary = 256;

std::size_t on_boundary(std::size_t bytes) {
    return (bytes + kBoundary - 1) / kBoundary * kBoundary;
}

/// The power of two, at most `most`, that divides every offset at which rows of a tile begin.
std::int32_t common_alignment(std::int32_t most, const std::vector<TiledGraph::Tile>& tiles, std::size_t row_bytes) {
    std::uint64_t all = static_cast<std::uint64_t>(most);
    for (const TiledGraph::Tile& tile : tiles) all |= static_cast<std::uint64_t>(tile.rows.first_row) * row_bytes;
    return static_cast<std::int32_t>(std::uint64_t{1} << std::countr_zero(all));
}

const void* moved(const void* array, std::uint64_t bytes) {
    return array ? static_cast<const char*>(array) + bytes : nullptr;
}

bool database_knows(const Context& context, Graph& graph, const Request& request) {
    // A fingerprint is a pass over the edges.
    if (request.named || !context.no_database_reason().empty()) return false;
    const auto answers = context.snapshot.answers(graph.fingerprint(), request.problem);
    const store::SnapshotEntry* entry = answers->find(request.policy);
    return entry && entry->current_rows > 0;
}

}  // namespace

TiledPlan::TiledPlan(std::shared_ptr<TiledGraph> graph, const Request& request, StreamHandle stream)
    : graph_(std::move(graph)), request_(request) {
    const Context& context = graph_->context();
    const TileLayout& layout = graph_->layout();
    const Problem& problem = request.problem;
    require_tileable(problem);
    const TileMemory needed = memory_of(context, layout, problem);
    graph_->claim(needed);
    claimed_ = needed;
    try {
        row_bytes_ =
            size_of(problem.dtype) * static_cast<std::size_t>(problem.k) * static_cast<std::size_t>(problem.heads);
        const bool heads_of_edges = problem.reduce != Reduce::max;
        if (problem.weighted) {
            edge_bytes_ = size_of(problem.dtype) * (heads_of_edges ? static_cast<std::size_t>(problem.heads) : 1);
        }
        request_.constraints.operand_alignment =
            common_alignment(request.constraints.operand_alignment, graph_->tiles(), row_bytes_);
        const std::uint64_t own = context.device.backend == Backend::cuda ? needed.backend_bytes : needed.host_bytes;
        memory_ = std::make_shared<CountingMemory>(context.memory, own, "a plan of a tiled graph");
        plan_tiles(stream);
    } catch (...) {
        graph_->release(claimed_);
        throw;
    }
}

TiledPlan::~TiledPlan() {
    graph_->release(claimed_);
}

void TiledPlan::plan_tiles(StreamHandle stream) {
    const Context& context = graph_->context();
    const TileLayout& layout = graph_->layout();
    const std::lock_guard turn(graph_->turn());
    {
        const MemoryScope scope(memory_kind(context.device), graph_->memory());
        for (TiledGraph::Tile& tile : graph_->tiles()) {
            // Fingerprints and features are computed on the default stream: what was copied has to be there before.
            graph_->bring(tile, stream, false);
            graph_->feed().wait();
            plans_.push_back(database_knows(context, *tile.graph, request_)
                                 ? make_plan(context, *tile.graph, tile.memo, request_, stream)
                                 : make_transient_plan(context, *tile.graph,
                                                       library::bucket_of(*tile.graph, tile.rows.longest_row, stream),
                                                       request_, stream));
            wait_for(context.device, stream, "creating a plan");
            workspace_bytes_ = std::max(workspace_bytes_, plans_.back().plan->workspace_bytes());
        }
    }
    const MemoryScope scope(memory_kind(context.device), memory_);
    const bool copies = std::any_of(graph_->tiles().begin(), graph_->tiles().end(),
                                    [this](const TiledGraph::Tile& tile) { return copies_weights(tile); });
    if (copies) {
        const std::size_t each = on_boundary(static_cast<std::size_t>(layout.largest) * edge_bytes_);
        weights_ = BackendArray<std::byte>(context.device, (layout.streamed ? kTileSlots : 1) * each);
    }
    if (workspace_bytes_ > 0) {
        workspace_ = BackendArray<std::byte>(context.device, workspace_bytes_ + kBoundary);
        workspace_begin_ = workspace_.data();
        const auto at = reinterpret_cast<std::uintptr_t>(workspace_begin_);
        workspace_begin_ += on_boundary(at) - at;
    }
    wait_for(context.device, stream, "creating a plan");  // what an allocator hands out may still be in use on it
    checked_.resize(plans_.size());
}

bool TiledPlan::copies_weights(const TiledGraph::Tile& tile) const {
    if (edge_bytes_ == 0 || tile.rows.m == 0) return false;
    if (graph_->layout().streamed) return true;
    const auto promised = static_cast<std::uint64_t>(request_.constraints.operand_alignment);
    return static_cast<std::uint64_t>(tile.rows.first_edge) * edge_bytes_ % promised != 0;
}

const void* TiledPlan::weights_in(const gnntune_operands& given, const TiledGraph::Tile& tile) const {
    return moved(given.edge_weight, static_cast<std::uint64_t>(tile.rows.first_edge) * edge_bytes_);
}

std::byte* TiledPlan::weights_of(const TiledGraph::Tile& tile) const {
    const std::size_t each = on_boundary(static_cast<std::size_t>(graph_->layout().largest) * edge_bytes_);
    return weights_.data() + (graph_->layout().streamed ? static_cast<std::size_t>(tile.slot) * each : 0);
}

gnntune_operands TiledPlan::operands_of(const TiledGraph::Tile& tile, const gnntune_operands& given) const {
    gnntune_operands own = given;
    const std::uint64_t begin = static_cast<std::uint64_t>(tile.rows.first_row) * row_bytes_;
    own.y = const_cast<void*>(moved(given.y, begin));
    if (edge_bytes_ > 0 && given.edge_weight && tile.rows.m > 0) {
        own.edge_weight = copies_weights(tile) ? weights_of(tile) : weights_in(given, tile);
    }
    return own;
}

void TiledPlan::require_operands(const gnntune_operands& given, [[maybe_unused]] StreamHandle stream) const {
    if (given.argmax) {
        throw invalid_argument(
            "operands.argmax must be NULL: places of edges in a tiled graph need not fit int32, which it has");
    }
    // What a streamed plan reads of the caller's weights is not what its kernels get.
    if (edge_bytes_ > 0 && graph_->layout().graph.m > 0) {
        if (!given.edge_weight) {
            throw invalid_argument(fmt::format(
                "operands.edge_weight is NULL; expected {} elements in {} memory",
                static_cast<std::size_t>(graph_->layout().graph.m) * (edge_bytes_ / size_of(request_.problem.dtype)),
                graph_->layout().streamed ? "host" : "backend"));
        }
        if (reinterpret_cast<std::uintptr_t>(given.edge_weight) % size_of(request_.problem.dtype) != 0) {
            throw invalid_argument(fmt::format("operands.edge_weight is not aligned to the {} bytes of an element",
                                               size_of(request_.problem.dtype)));
        }
    }
    if (given.edge_weight && edge_bytes_ > 0) {
        const auto weights = reinterpret_cast<std::uintptr_t>(given.edge_weight);
        const auto y = reinterpret_cast<std::uintptr_t>(given.y);
        const WideCsrView& graph = graph_->layout().graph;
        if (y < weights + static_cast<std::uintptr_t>(graph.m) * edge_bytes_ &&
            weights < y + static_cast<std::uintptr_t>(graph.n_rows) * row_bytes_) {
            throw invalid_argument(
                "operands.y shares memory with operands.edge_weight; a run overwrites it, so give it memory that "
                "nothing "
                "else uses");
        }
    }
#if GNNTUNE_WITH_CUDA
    if (graph_->context().device.backend == Backend::cuda) {
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        GNNTUNE_CUDA(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &capture));
        if (capture != cudaStreamCaptureStatusNone) {
            throw invalid_argument(
                "a run of a tiled graph cannot be captured in a CUDA graph: it waits for runs before it, and for "
                "copies "
                "on a stream of its own");
        }
    }
#endif
}

void TiledPlan::run(const gnntune_operands& given, StreamHandle stream) {
    const std::lock_guard turn(graph_->turn());
    require_operands(given, stream);
    const auto& tiles = graph_->tiles();
    for (std::size_t t = 0; t < plans_.size(); ++t) {
        const gnntune_operands own = operands_of(tiles[t], given);
        checked_[t] = plans_[t].binding->operands(own);
        plans_[t].binding->require_apart(own, workspace_begin_, plans_[t].plan->workspace_bytes());
    }
    TileFeed& feed = graph_->feed();
    const TileLayout& layout = graph_->layout();
    const bool brings_weights = layout.streamed && edge_bytes_ > 0;
    const bool locked = brings_weights && is_page_locked(graph_->context().device, given.edge_weight,
                                                         static_cast<std::uint64_t>(layout.graph.m) * edge_bytes_);
    feed.follow_last_run(stream);
    for (std::size_t t = 0; t < plans_.size(); ++t) {
        const TiledGraph::Tile& tile = tiles[t];
        const std::size_t weight_bytes = static_cast<std::size_t>(tile.rows.m) * edge_bytes_;
        if (layout.streamed) {
            // Work on the stream may have written the weights. The library alone writes ids.
            graph_->bring(tile, stream, brings_weights && t == 0);
            if (brings_weights) feed.copy(weights_in(given, tile), weight_bytes, weights_of(tile), locked);
            feed.arrive(tile.slot, stream);
        } else if (copies_weights(tile)) {
            feed.copy_within(weights_in(given, tile), weight_bytes, weights_of(tile), stream);
        }
        plans_[t].plan->run(checked_[t], workspace_begin_, stream);
        if (layout.streamed) feed.leave(tile.slot, stream);
    }
    feed.end_run(stream);
}

std::string TiledPlan::explain() {
    const TileLayout& layout = graph_->layout();
    const Context& context = graph_->context();
    const auto line = [](std::string_view label, const std::string& words) {
        return fmt::format("{:<10} {}\n", label, words);
    };
    std::string where = "resident";
    if (layout.streamed) {
        where = fmt::format("streamed from {} memory through {} buffers",
                            context.device.backend == Backend::cpu ? "host"
                            : graph_->ids_page_locked()            ? "page-locked"
                                                                   : "pageable",
                            kTileSlots);
    }
    std::string text = line("tiles", fmt::format("{} of at most {} edges, {}", plans_.size(), layout.largest, where));
    const auto fingerprint = graph_->known_fingerprint();
    text += line("graph", fmt::format("{}{} x {}, {} edges", fingerprint ? fingerprint->text() + ", " : "",
                                      layout.graph.n_rows, layout.graph.n_cols, layout.graph.m));
    const TileMemory whole = memory_of(context, layout);
    text += line("memory",
                 fmt::format("at most {} bytes on the host, {} on the device, beside features and results",
                             whole.host_bytes + claimed_.host_bytes, whole.backend_bytes + claimed_.backend_bytes));
    std::map<std::string, std::size_t> configs;
    for (const Outcome& plan : plans_) ++configs[plan.plan->config().text()];
    for (const auto& [config, count] : configs) text += line("of tiles", fmt::format("{}: {}", count, config));
    if (plans_.empty()) return text;
    const bool known = plans_.front().story->bucket.empty();
    text += fmt::format("\nThe first tile, {}:\n",
                        known ? "which the database knows" : "which is planned by its shape, as all unknown ones are");
    const std::lock_guard turn(graph_->turn());
    return text +
           library::explain(context, *graph_->tiles().front().graph, *plans_.front().plan, *plans_.front().story);
}

}  // namespace gnntune::library
