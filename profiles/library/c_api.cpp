// The functions of gnntune.h. Each one reads its structs, makes the context's device current, calls the part of this
// folder that knows, and leaves the exceptions to guarded().
#include <cstdio>
#include <optional>
#include <string>

#include "core/include/gnntune/gnntune.h"
#include "profiles/library/abi.hpp"
#include "profiles/library/destroy.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/explain.hpp"
#include "profiles/library/graph_input.hpp"
#include "profiles/library/handles.hpp"
#include "profiles/library/memory.hpp"
#include "profiles/library/request.hpp"
#include "profiles/library/run.hpp"

namespace lib = gnntune::library;

namespace {

std::int64_t longest_row_of(const gnntune_csr& csr) {
    return csr.longest_row;
}
std::int64_t longest_row_of(const gnntune_coo&) {
    return -1;
}

// An empty `out` on failure, so that a caller who forgets the status meets NULL and not a stale handle.
template <typename T>
void clear(T** out) {
    *lib::require(out, "out") = nullptr;
}

template <typename Description>
gnntune_status create_graph(gnntune_context* context, const Description* description, const char* name,
                            gnntune_stream stream, gnntune_graph** out) {
    return lib::guarded([&] {
        clear(out);
        lib::require(context, "context");
        const Description known = lib::read_struct(description, name);
        const lib::Context& c = *context->context;
        const gnntune::MemoryScope scope(lib::memory_kind(c.device), c.memory);
        std::shared_ptr<gnntune::Graph> graph = lib::graph_from(c, known, stream);
        graph->set_format_memory(c.formats_memory);
        std::shared_ptr<lib::StreamOrder> order;
        if (lib::is_for_stream_order(c, known)) {
            graph->build_in_stream_order();
            order = std::make_shared<lib::StreamOrder>();
        }
        *out = new gnntune_graph{
            context->context, std::move(graph), {}, known.transient != 0, lib::BucketOnce(longest_row_of(known)),
            std::move(order)};
    });
}

}  // namespace

extern "C" {

uint32_t gnntune_version(void) {
    return GNNTUNE_VERSION_MAJOR * 10000 + GNNTUNE_VERSION_MINOR * 100 + GNNTUNE_VERSION_PATCH;
}

const char* gnntune_status_string(gnntune_status status) {
    switch (status) {
        case GNNTUNE_OK:
            return "GNNTUNE_OK";
        case GNNTUNE_INVALID_ARGUMENT:
            return "GNNTUNE_INVALID_ARGUMENT";
        case GNNTUNE_INVALID_GRAPH:
            return "GNNTUNE_INVALID_GRAPH";
        case GNNTUNE_NO_DEVICE:
            return "GNNTUNE_NO_DEVICE";
        case GNNTUNE_DATABASE:
            return "GNNTUNE_DATABASE";
        case GNNTUNE_UNSUPPORTED:
            return "GNNTUNE_UNSUPPORTED";
        case GNNTUNE_RUNTIME:
            return "GNNTUNE_RUNTIME";
        case GNNTUNE_OUT_OF_MEMORY:
            return "GNNTUNE_OUT_OF_MEMORY";
        case GNNTUNE_INTERNAL:
            return "GNNTUNE_INTERNAL";
        default:
            return "unknown status";
    }
}

const char* gnntune_last_error(void) {
    return lib::last_error();
}

gnntune_status gnntune_open_options_init(gnntune_open_options* options, size_t size) {
    return lib::guarded([&] { lib::init_struct(options, size, GNNTUNE_OPEN_OPTIONS_INIT, "gnntune_open_options"); });
}

gnntune_status gnntune_csr_init(gnntune_csr* csr, size_t size) {
    return lib::guarded([&] { lib::init_struct(csr, size, GNNTUNE_CSR_INIT, "gnntune_csr"); });
}

gnntune_status gnntune_coo_init(gnntune_coo* coo, size_t size) {
    return lib::guarded([&] { lib::init_struct(coo, size, GNNTUNE_COO_INIT, "gnntune_coo"); });
}

gnntune_status gnntune_problem_init(gnntune_problem* problem, size_t size) {
    return lib::guarded([&] { lib::init_struct(problem, size, GNNTUNE_PROBLEM_INIT, "gnntune_problem"); });
}

gnntune_status gnntune_operands_init(gnntune_operands* operands, size_t size) {
    return lib::guarded([&] { lib::init_struct(operands, size, GNNTUNE_OPERANDS_INIT, "gnntune_operands"); });
}

gnntune_status gnntune_open(const char* db_path, const gnntune_open_options* options, gnntune_context** out) {
    return lib::guarded([&] {
        clear(out);
        gnntune_open_options known = GNNTUNE_OPEN_OPTIONS_INIT;
        if (options) known = lib::read_struct(options, "gnntune_open_options");
        auto context = std::make_shared<const lib::Context>(lib::open_context(lib::open_request(db_path, known)));
        *out = new gnntune_context{std::move(context)};
    });
}

void gnntune_close(gnntune_context* context) {
    lib::guarded([&] { delete context; });
}

gnntune_backend gnntune_context_backend(const gnntune_context* context) {
    if (!context) return GNNTUNE_BACKEND_AUTO;
    return context->context->device.backend == gnntune::Backend::cuda ? GNNTUNE_BACKEND_CUDA : GNNTUNE_BACKEND_CPU;
}

int32_t gnntune_context_device(const gnntune_context* context) {
    if (!context || context->context->device.backend != gnntune::Backend::cuda) return -1;
    return context->context->device.ordinal;
}

size_t gnntune_context_describe(const gnntune_context* context, char* buffer, size_t size) {
    std::string text;
    if (context) lib::guarded([&] { text = context->context->describe(); });
    return lib::copy_text(text, buffer, size);
}

gnntune_status gnntune_graph_create_csr(gnntune_context* context, const gnntune_csr* csr, gnntune_stream stream,
                                        gnntune_graph** out) {
    return create_graph(context, csr, "gnntune_csr", stream, out);
}

gnntune_status gnntune_graph_create_coo(gnntune_context* context, const gnntune_coo* coo, gnntune_stream stream,
                                        gnntune_graph** out) {
    return create_graph(context, coo, "gnntune_coo", stream, out);
}

void gnntune_graph_destroy(gnntune_graph* graph) {
    lib::destroy(graph);
}

gnntune_status gnntune_graph_fingerprint(gnntune_graph* graph, gnntune_stream stream, char out[33]) {
    return lib::guarded([&] {
        lib::require(graph, "graph");
        lib::require(out, "out");
        const lib::DeviceGuard guard(graph->context->device);
        lib::wait_for(graph->context->device, stream, "computing a fingerprint");
        const gnntune::MemoryScope scope(lib::memory_kind(graph->context->device), graph->context->memory);
        lib::copy_text(graph->graph->fingerprint().text(), out, 33);
    });
}

gnntune_status gnntune_graph_release_formats(gnntune_graph* graph) {
    return lib::guarded([&] {
        lib::require(graph, "graph");
        const lib::DeviceGuard guard(graph->context->device);
        graph->graph->release_formats();
    });
}

size_t gnntune_graph_format_bytes(const gnntune_graph* graph) {
    return graph ? graph->graph->format_bytes() : 0;
}

gnntune_status gnntune_plan_create(gnntune_context* context, gnntune_graph* graph, const gnntune_problem* problem,
                                   gnntune_stream stream, gnntune_plan** out) {
    return lib::guarded([&] {
        clear(out);
        lib::require(context, "context");
        lib::require(graph, "graph");
        if (graph->context != context->context) {
            throw gnntune::invalid_argument("the graph was made from another context than the one given");
        }
        const lib::Request request = lib::plan_request(lib::read_struct(problem, "gnntune_problem"));
        const lib::Context& c = *context->context;
        const lib::DeviceGuard guard(c.device);
        std::optional<lib::StreamOrder::Building> building;
        if (graph->order) {
            lib::refuse_capture(c.device, stream, "creating a plan");
            building.emplace(*graph->order, c.device, stream);
        } else {
            lib::wait_for(c.device, stream, "creating a plan");
        }
        const gnntune::MemoryScope scope(lib::memory_kind(c.device), c.memory);
        lib::Outcome outcome =
            graph->transient
                ? lib::make_transient_plan(c, *graph->graph, graph->bucket.get(*graph->graph, stream), request, stream)
                : lib::make_plan(c, *graph->graph, graph->memo, request, stream);
        building.reset();
        if (!graph->order) lib::wait_for(c.device, stream, "creating a plan");  // the plan may run on any stream
        std::string config = outcome.plan->config().text();
        // One call, so that lines of several threads do not mix.
        if (c.verbose)
            std::fputs(lib::verbose_line(*graph->graph, *outcome.plan, *outcome.story, outcome.tuned_us).c_str(),
                       stderr);
        *out = new gnntune_plan{context->context,
                                graph->graph,
                                std::move(outcome.memory),
                                std::move(outcome.plan),
                                std::move(outcome.binding),
                                std::move(outcome.story),
                                graph->order,
                                std::move(config)};
    });
}

void gnntune_plan_destroy(gnntune_plan* plan) {
    lib::destroy(plan);
}

size_t gnntune_plan_workspace_bytes(const gnntune_plan* plan) {
    return plan ? plan->plan->workspace_bytes() : 0;
}

double gnntune_plan_prepare_us(const gnntune_plan* plan) {
    return plan ? plan->plan->prepare_us() : 0;
}

size_t gnntune_plan_format_bytes(const gnntune_plan* plan) {
    return plan ? plan->plan->format_bytes() : 0;
}

size_t gnntune_plan_own_bytes(const gnntune_plan* plan) {
    return plan ? plan->memory->held_bytes() : 0;
}

const char* gnntune_plan_config(const gnntune_plan* plan) {
    return plan ? plan->config.c_str() : "";
}

const char* gnntune_plan_source(const gnntune_plan* plan) {
    return plan ? lib::to_text(plan->story->source).data() : "";
}

size_t gnntune_plan_explain(const gnntune_plan* plan, char* buffer, size_t size) {
    std::string text;
    if (plan) {
        lib::guarded([&] { text = lib::explain(*plan->context, *plan->graph, *plan->plan, *plan->story); });
    }
    return lib::copy_text(text, buffer, size);
}

int64_t gnntune_plan_array_elements(const gnntune_plan* plan, const char* name) {
    return plan && name ? plan->binding->elements(name) : -1;
}

gnntune_status gnntune_run(const gnntune_plan* plan, const gnntune_operands* operands, void* workspace,
                           size_t workspace_bytes, gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(plan, "plan");
        const gnntune_operands known = lib::read_struct(operands, "gnntune_operands");
        const gnntune::Operands checked = plan->binding->operands(known);
        lib::check_workspace(plan->plan->workspace_bytes(), plan->config, "gnntune_plan_workspace_bytes", workspace,
                             workspace_bytes);
        plan->binding->require_apart(known, workspace, plan->plan->workspace_bytes());
        const lib::DeviceGuard guard(plan->context->device);
        if (plan->order) plan->order->before_run(stream);
        plan->plan->run(checked, workspace, stream);
    });
}

}  // extern "C"
