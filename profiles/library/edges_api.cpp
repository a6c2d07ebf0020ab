// The functions of gnntune.h about lists of edges that are no graph yet: what is checked before kernels/edges computes.
#include <cstdint>
#include <limits>
#include <string>

#include "core/include/gnntune/gnntune.h"
#include "kernels/edges/edge_list.hpp"
#include "profiles/library/abi.hpp"
#include "profiles/library/call_arrays.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/handles.hpp"
#include "profiles/library/request.hpp"

namespace lib = gnntune::library;
using gnntune::invalid_argument;
using gnntune::kernels::EdgeList;

namespace {

constexpr std::int64_t kMostEdges = std::numeric_limits<std::int32_t>::max();

}  // namespace

extern "C" {

gnntune_status gnntune_edge_list(gnntune_context* context, int64_t m, gnntune_index id_type, const void* sources,
                                 const void* targets, int64_t loops, int32_t* edges, int32_t* has_loops,
                                 gnntune_stream stream) {
    return lib::guarded([&] {
        lib::require(context, "context");
        if (m < 0 || loops < 0 || m > kMostEdges || loops > kMostEdges - m) {
            throw invalid_argument("m and loops are " + std::to_string(m) + " and " + std::to_string(loops) +
                                   "; expected none below 0 and less than 2^31 together");
        }
        const bool wide = lib::is_wide("id_type", id_type);
        lib::CallArrays checked(wide ? sizeof(std::int64_t) : sizeof(std::int32_t));
        checked.read("sources", sources, m);
        checked.read("targets", targets, m);
        checked.written_as(sizeof(std::int32_t), "edges", edges, 2 * (m + loops));
        checked.require_apart();
        const EdgeList list{sources, targets, wide, m, static_cast<std::int32_t>(loops), edges};
        const lib::Context& c = *context->context;
        const lib::DeviceGuard guard(c.device);
        if (!has_loops) return gnntune::kernels::copy_edge_list(c.device.backend, list, nullptr, stream);
        lib::refuse_capture(c.device, stream, "gnntune_edge_list with has_loops");
        const lib::SharedFlags::Flag seen(*c.flags);
        gnntune::kernels::copy_edge_list(c.device.backend, list, seen.address(), stream);
        if (c.device.backend == gnntune::Backend::cuda) lib::wait_beside_captures(stream);
        *has_loops = seen.is_set() ? 1 : 0;
    });
}

}  // extern "C"
