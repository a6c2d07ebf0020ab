// What the opaque pointers of gnntune.h point to. Each holds shares of what it was made from, so that the caller may
// destroy handles in any order.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/dispatch/plan.hpp"
#include "core/registry/graph.hpp"
#include "profiles/library/context.hpp"
#include "profiles/library/dispatch.hpp"
#include "profiles/library/plan_memo.hpp"
#include "profiles/library/run.hpp"
#include "profiles/library/stream_order.hpp"
#include "profiles/library/tiled_graph.hpp"
#include "profiles/library/tiled_plan.hpp"
#include "profiles/library/transient.hpp"

struct gnntune_context {
    std::shared_ptr<const gnntune::library::Context> context;
};

struct gnntune_graph {
    std::shared_ptr<const gnntune::library::Context> context;
    std::shared_ptr<gnntune::Graph> graph;
    gnntune::library::PlanMemo memo;
    bool transient = false;
    gnntune::library::BucketOnce bucket;
    std::shared_ptr<gnntune::library::StreamOrder> order;  ///< null: plans are complete when they are made
};

struct gnntune_plan {
    std::shared_ptr<const gnntune::library::Context> context;
    std::shared_ptr<gnntune::Graph> graph;            // outlives `plan`: members end in reverse order
    std::shared_ptr<gnntune::CountingMemory> memory;  // the plan's own
    std::unique_ptr<gnntune::Plan> plan;
    std::shared_ptr<const gnntune::library::Binding> binding;
    std::shared_ptr<const gnntune::library::Story> story;
    std::shared_ptr<gnntune::library::StreamOrder> order;  ///< the graph's
    std::string config;
};

struct gnntune_tiled_graph {
    std::shared_ptr<const gnntune::library::Context> context;
    std::shared_ptr<gnntune::library::TiledGraph> graph;
};

struct gnntune_tiled_plan {
    std::shared_ptr<const gnntune::library::Context> context;
    std::unique_ptr<gnntune::library::TiledPlan> plan;
};
