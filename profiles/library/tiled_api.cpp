// The functions of gnntune.h about tiled graphs. As in c_api.cpp, each one reads its structs, makes the context's device
// current and calls the part of this folder that knows.
#include <string>

#include "core/include/gnntune/gnntune.h"
#include "profiles/library/abi.hpp"
#include "profiles/library/destroy.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/handles.hpp"
#include "profiles/library/memory.hpp"
#include "profiles/library/request.hpp"

namespace lib = gnntune::library;

namespace {

gnntune_tiling tiling_or_default(const gnntune_tiling* given) {
    gnntune_tiling known = GNNTUNE_TILING_INIT;
    if (given) known = lib::read_struct(given, "gnntune_tiling");
    return known;
}

lib::TileLayout layout_of(const lib::Context& context, const gnntune_csr* csr, const gnntune_tiling* tiling) {
    const gnntune_csr known = lib::read_struct(csr, "gnntune_csr");
    return lib::lay_out(context, known, tiling_or_default(tiling));
}

template <typename T, typename Value>
void put(T* out, Value value) {
    if (out) *out = static_cast<T>(value);
}

}  // namespace

extern "C" {

gnntune_status gnntune_tiling_init(gnntune_tiling* tiling, size_t size) {
    return lib::guarded([&] { lib::init_struct(tiling, size, GNNTUNE_TILING_INIT, "gnntune_tiling"); });
}

gnntune_status gnntune_tiled_memory(gnntune_context* context, const gnntune_csr* csr, const gnntune_tiling* tiling,
                                    const gnntune_problem* problem, uint64_t* host_bytes, uint64_t* backend_bytes,
                                    int64_t* tiles, int32_t* streamed) {
    return lib::guarded([&] {
        lib::require(context, "context");
        const lib::Context& c = *context->context;
        const lib::TileLayout layout = layout_of(c, csr, tiling);
        lib::TileMemory memory = lib::memory_of(c, layout);
        if (problem) {
            const lib::Request request = lib::plan_request(lib::read_struct(problem, "gnntune_problem"));
            lib::require_tileable(request.problem);
            const lib::TileMemory plan = lib::memory_of(c, layout, request.problem);
            memory.host_bytes += plan.host_bytes;
            memory.backend_bytes += plan.backend_bytes;
        }
        put(host_bytes, memory.host_bytes);
        put(backend_bytes, memory.backend_bytes);
        put(tiles, layout.tiles.size());
        put(streamed, layout.streamed ? 1 : 0);
    });
}

gnntune_status gnntune_tiled_graph_create(gnntune_context* context, const gnntune_csr* csr,
                                          const gnntune_tiling* tiling, gnntune_stream stream,
                                          gnntune_tiled_graph** out) {
    return lib::guarded([&] {
        *lib::require(out, "out") = nullptr;
        lib::require(context, "context");
        const lib::Context& c = *context->context;
        const lib::DeviceGuard guard(c.device);
        lib::refuse_capture(c.device, stream, "creating a graph");
        lib::TileLayout layout = layout_of(c, csr, tiling);
        auto graph = std::make_shared<lib::TiledGraph>(context->context, std::move(layout), csr->trusted != 0, stream);
        *out = new gnntune_tiled_graph{context->context, std::move(graph)};
    });
}

void gnntune_tiled_graph_destroy(gnntune_tiled_graph* graph) {
    lib::destroy(graph);
}

gnntune_status gnntune_tiled_graph_fingerprint(gnntune_tiled_graph* graph, char out[33]) {
    return lib::guarded([&] {
        lib::require(graph, "graph");
        lib::require(out, "out");
        lib::copy_text(graph->graph->fingerprint().text(), out, 33);
    });
}

gnntune_status gnntune_tiled_plan_create(gnntune_tiled_graph* graph, const gnntune_problem* problem,
                                         gnntune_stream stream, gnntune_tiled_plan** out) {
    return lib::guarded([&] {
        *lib::require(out, "out") = nullptr;
        lib::require(graph, "graph");
        const lib::Request request = lib::plan_request(lib::read_struct(problem, "gnntune_problem"));
        const lib::DeviceGuard guard(graph->context->device);
        lib::wait_for(graph->context->device, stream, "creating a plan");
        auto plan = std::make_unique<lib::TiledPlan>(graph->graph, request, stream);
        *out = new gnntune_tiled_plan{graph->context, std::move(plan)};
    });
}

void gnntune_tiled_plan_destroy(gnntune_tiled_plan* plan) {
    lib::destroy(plan);
}

size_t gnntune_tiled_plan_explain(const gnntune_tiled_plan* plan, char* buffer, size_t size) {
    std::string text;
    if (plan) {
        lib::guarded([&] {
            const lib::DeviceGuard guard(plan->context->device);
            text = plan->plan->explain();
        });
    }
    return lib::copy_text(text, buffer, size);
}

gnntune_status gnntune_tiled_run(const gnntune_tiled_plan* plan, const gnntune_operands* operands,
                                 gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(plan, "plan");
        const gnntune_operands known = lib::read_struct(operands, "gnntune_operands");
        const lib::DeviceGuard guard(plan->context->device);
        plan->plan->run(known, stream);
    });
}

}  // extern "C"
