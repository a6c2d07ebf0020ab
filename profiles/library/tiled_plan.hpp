// A plan of every tile of a graph, and how a run takes one after the other: what gnntune_tiled_plan_create makes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/include/gnntune/gnntune.h"
#include "profiles/library/dispatch.hpp"
#include "profiles/library/tiled_graph.hpp"

namespace gnntune::library {

class TiledPlan {
public:
    /// A tile that the database knows is planned by its measurements, the others by their shape, as transient graphs are:
    /// decided once for all that are alike. Throws as require_tileable, claim and make_plan. Synchronises.
    TiledPlan(std::shared_ptr<TiledGraph> graph, const Request& request, StreamHandle stream);
    TiledPlan(const TiledPlan&) = delete;
    TiledPlan& operator=(const TiledPlan&) = delete;
    ~TiledPlan();

    /// Throws ErrorKind::invalid_argument in words before anything is enqueued. Thread-safe; runs of one graph follow one
    /// another.
    void run(const gnntune_operands& given, StreamHandle stream);
    /// Lines for people.
    std::string explain();

private:
    void plan_tiles(StreamHandle stream);
    gnntune_operands operands_of(const TiledGraph::Tile& tile, const gnntune_operands& given) const;
    /// Whether kernels get a copy of the tile's weights: those of a streamed graph are brought with its ids, and slices of
    /// the caller's that do not begin where the caller has promised are moved to where they do.
    bool copies_weights(const TiledGraph::Tile& tile) const;
    std::byte* weights_of(const TiledGraph::Tile& tile) const;
    const void* weights_in(const gnntune_operands& given, const TiledGraph::Tile& tile) const;
    void require_operands(const gnntune_operands& given, StreamHandle stream) const;

    std::shared_ptr<TiledGraph> graph_;
    Request request_;
    TileMemory claimed_;
    std::shared_ptr<CountingMemory> memory_;  ///< of weights and workspace; never null
    std::size_t row_bytes_ = 0;               ///< of y
    std::size_t edge_bytes_ = 0;              ///< of edge_weight; 0: not weighted
    std::vector<Outcome> plans_;              ///< of each tile
    BackendArray<std::byte> weights_;  ///< two buffers of a streamed plan, one of a resident one; none if not needed
    BackendArray<std::byte> workspace_;
    std::byte* workspace_begin_ = nullptr;
    std::size_t workspace_bytes_ = 0;
    std::vector<Operands> checked_;  ///< of the run that has its turn
};

}  // namespace gnntune::library
