#include "profiles/library/graph_input.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "core/common/error.hpp"
#include "core/common/host_vector.hpp"
#include "core/graph/convert.hpp"
#include "profiles/library/abi.hpp"
#include "profiles/library/device_guard.hpp"
#include "profiles/library/request.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#include "profiles/library/device_arrays.hpp"
#endif

namespace gnntune::library {
namespace {

/// One array of the caller.
struct IdArray {
    const char* name = nullptr;
    const void* data = nullptr;
    std::int64_t size = 0;
    bool wide = false;  ///< int64
};

/// Arrays that are not borrowed: one slot for row_ptr or row_idx, one for col_idx.
struct Storage {
    HostVector<std::int32_t> host[2];
#if GNNTUNE_WITH_CUDA
    DeviceBuffer<std::int32_t> device[2];
#endif
};

void require_sizes(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m) {
    if (n_rows < 0 || n_cols < 0 || m < 0) {
        throw invalid_argument(
            fmt::format("n_rows={}, n_cols={}, m={}: expected sizes of zero or more", n_rows, n_cols, m));
    }
    require_int32(n_rows, n_cols, m);
}

void require_possible_longest_row(const gnntune_csr& csr) {
    const std::int64_t longest = csr.longest_row;
    if (longest == -1) return;
    if (longest >= 0 && longest <= csr.m && longest * csr.n_rows >= csr.m) return;
    throw invalid_argument(
        fmt::format("longest_row is {}, which no graph of {} rows and {} edges can have; expected the -1 of "
                    "GNNTUNE_CSR_INIT if it is not known",
                    longest, csr.n_rows, csr.m));
}

bool in_device_memory(const Context& context, gnntune_memory memory) {
    if (memory != GNNTUNE_HOST && memory != GNNTUNE_DEVICE) {
        throw invalid_argument(
            fmt::format("memory is {}; say where the arrays lie: GNNTUNE_HOST or GNNTUNE_DEVICE", memory));
    }
    if (memory == GNNTUNE_DEVICE && context.device.backend != Backend::cuda) {
        throw invalid_argument("a context on the cpu backend needs host arrays, GNNTUNE_DEVICE was given");
    }
    return memory == GNNTUNE_DEVICE;
}

void require_array(const IdArray& array) {
    if (array.size > 0 && !array.data) {
        throw invalid_argument(fmt::format("{} is NULL; expected {} elements", array.name, array.size));
    }
    const std::size_t width = array.wide ? 8 : 4;
    if (reinterpret_cast<std::uintptr_t>(array.data) % width != 0) {
        throw invalid_argument(fmt::format("{} is not aligned to its elements of {} bytes", array.name, width));
    }
}

const std::int32_t* narrow(const IdArray& array, HostVector<std::int32_t>& owned) {
    if (!array.wide) return static_cast<const std::int32_t*>(array.data);
    const auto* wide = static_cast<const std::int64_t*>(array.data);
    owned.resize(static_cast<std::size_t>(array.size));
    for (std::int64_t i = 0; i < array.size; ++i) {
        const auto id = static_cast<std::int32_t>(wide[i]);
        if (id != wide[i]) {
            throw unsupported(fmt::format("{}[{}] is {}; ids and offsets must fit int32", array.name, i, wide[i]));
        }
        owned[static_cast<std::size_t>(i)] = id;
    }
    return owned.data();
}

#if GNNTUNE_WITH_CUDA
const std::int32_t* narrow(const IdArray& array, DeviceBuffer<std::int32_t>& owned) {
    if (!array.wide) return static_cast<const std::int32_t*>(array.data);
    owned = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(array.size));
    narrow_on_device(array.name, static_cast<const std::int64_t*>(array.data), array.size, owned.data());
    return owned.data();
}
#endif

/// Fills the two pointers of a view in host memory, checks it, and moves it to the device if that is where it must go.
/// `View` is CsrView or CooView; `first` is its row_ptr or row_idx.
template <typename View>
std::unique_ptr<Graph> host_graph(const Context& context, View view, const std::int32_t* View::*first,
                                  const IdArray (&arrays)[2], bool trusted) {
    auto storage = std::make_shared<Storage>();
    view.*first = narrow(arrays[0], storage->host[0]);
    view.col_idx = narrow(arrays[1], storage->host[1]);
    view.space = MemorySpace::host;
    if (!trusted) validate(view);
#if GNNTUNE_WITH_CUDA
    if (context.device.backend == Backend::cuda) {
        storage->device[0] = to_device(view.*first, static_cast<std::size_t>(arrays[0].size));
        storage->device[1] = to_device(view.col_idx, static_cast<std::size_t>(arrays[1].size));
        // A copy from pageable memory may still be on its way, and the caller's stream does not wait for it.
        wait_for(context.device, nullptr, "creating a graph");
        storage->host[0] = {};
        storage->host[1] = {};
        view.*first = storage->device[0].data();
        view.col_idx = storage->device[1].data();
        view.space = MemorySpace::device;
    }
#endif
    return std::make_unique<Graph>(context.registry, context.device, view, std::move(storage));
}

template <typename View>
std::unique_ptr<Graph> device_graph([[maybe_unused]] const Context& context, [[maybe_unused]] View view,
                                    [[maybe_unused]] const std::int32_t* View::*first,
                                    [[maybe_unused]] const IdArray (&arrays)[2], [[maybe_unused]] bool trusted,
                                    [[maybe_unused]] StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    auto storage = std::make_shared<Storage>();
    for (const IdArray& array : arrays) require_device_pointer(array.name, array.data, context.device);
    if (!trusted || arrays[0].wide || arrays[1].wide) wait_for(context.device, stream, "creating a graph");
    view.*first = narrow(arrays[0], storage->device[0]);
    view.col_idx = narrow(arrays[1], storage->device[1]);
    view.space = MemorySpace::device;
    if (!trusted) validate_on_device(view);
    return std::make_unique<Graph>(context.registry, context.device, view, std::move(storage));
#else
    throw Error(ErrorKind::no_device, "this build has no CUDA backend");  // in_device_memory() refused already
#endif
}

template <typename View>
std::unique_ptr<Graph> make(const Context& context, const View& view, const std::int32_t* View::*first,
                            const IdArray (&arrays)[2], gnntune_memory memory, bool trusted, StreamHandle stream) {
    const bool on_device = in_device_memory(context, memory);
    for (const IdArray& array : arrays) require_array(array);
    const DeviceGuard guard(context.device);
    return on_device ? device_graph(context, view, first, arrays, trusted, stream)
                     : host_graph(context, view, first, arrays, trusted);
}

}  // namespace

std::unique_ptr<Graph> graph_from(const Context& context, const gnntune_csr& csr, StreamHandle stream) {
    require_sizes(csr.n_rows, csr.n_cols, csr.m);
    require_possible_longest_row(csr);
    CsrView view;
    view.n_rows = static_cast<std::int32_t>(csr.n_rows);
    view.n_cols = static_cast<std::int32_t>(csr.n_cols);
    view.m = csr.m;
    const IdArray arrays[2] = {{"row_ptr", csr.row_ptr, csr.n_rows + 1, is_wide("offset_type", csr.offset_type)},
                               {"col_idx", csr.col_idx, csr.m, is_wide("id_type", csr.id_type)}};
    return make(context, view, &CsrView::row_ptr, arrays, csr.memory, csr.trusted != 0, stream);
}

std::unique_ptr<Graph> graph_from(const Context& context, const gnntune_coo& coo, StreamHandle stream) {
    require_sizes(coo.n_rows, coo.n_cols, coo.m);
    CooView view;
    view.n_rows = static_cast<std::int32_t>(coo.n_rows);
    view.n_cols = static_cast<std::int32_t>(coo.n_cols);
    view.m = coo.m;
    const bool wide = is_wide("id_type", coo.id_type);
    const IdArray arrays[2] = {{"row_idx", coo.row_idx, coo.m, wide}, {"col_idx", coo.col_idx, coo.m, wide}};
    return make(context, view, &CooView::row_idx, arrays, coo.memory, coo.trusted != 0, stream);
}

namespace {

template <typename Description>
bool may_keep_stream_order(const Context& context, const Description& graph) {
    return context.memory_in_stream_order && context.device.backend == Backend::cuda && !context.forced &&
           graph.transient != 0 && graph.trusted != 0 && graph.memory == GNNTUNE_DEVICE &&
           graph.id_type == GNNTUNE_INT32;
}

}  // namespace

bool is_for_stream_order(const Context& context, const gnntune_csr& csr) {
    return may_keep_stream_order(context, csr) && csr.offset_type == GNNTUNE_INT32;
}

bool is_for_stream_order(const Context& context, const gnntune_coo& coo) {
    return may_keep_stream_order(context, coo);
}

}  // namespace gnntune::library
