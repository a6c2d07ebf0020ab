// Owning device copies of graphs: CSR, COO and CSC in device memory, made from host views.
#pragma once

#include "core/gpu/device_buffer.hpp"
#include "core/graph/types.hpp"

namespace gnntune {

namespace device_graph_detail {

/// Device copy of `n` host elements; empty for a null pointer.
template <typename T>
DeviceBuffer<T> upload(const T* source, std::int64_t n) {
    return source ? to_device(source, static_cast<std::size_t>(n)) : DeviceBuffer<T>();
}

}  // namespace device_graph_detail

/// Owning device CSR. The view borrows from it and carries weights where there are any.
class DeviceCsr {
public:
    DeviceCsr() = default;
    /// Copies a host view. Throws ErrorKind::out_of_memory naming the bytes.
    explicit DeviceCsr(const CsrView& host)
        : shape_(host),
          row_ptr_(device_graph_detail::upload(host.row_ptr, std::int64_t{host.n_rows} + 1)),
          col_idx_(device_graph_detail::upload(host.col_idx, host.m)),
          edge_weight_(device_graph_detail::upload(host.edge_weight, host.m)) {}

    CsrView view() const {
        return {shape_.n_rows,   shape_.n_cols,       shape_.m,           row_ptr_.data(),
                col_idx_.data(), edge_weight_.data(), MemorySpace::device};
    }

private:
    CsrView shape_;  // sizes only
    DeviceBuffer<std::int32_t> row_ptr_;
    DeviceBuffer<std::int32_t> col_idx_;
    DeviceBuffer<float> edge_weight_;
};

/// Owning device COO.
class DeviceCoo {
public:
    DeviceCoo() = default;
    explicit DeviceCoo(const CooView& host)
        : shape_(host),
          row_idx_(device_graph_detail::upload(host.row_idx, host.m)),
          col_idx_(device_graph_detail::upload(host.col_idx, host.m)),
          edge_weight_(device_graph_detail::upload(host.edge_weight, host.m)) {}

    CooView view() const {
        return {shape_.n_rows,   shape_.n_cols,       shape_.m,           row_idx_.data(),
                col_idx_.data(), edge_weight_.data(), MemorySpace::device};
    }

private:
    CooView shape_;
    DeviceBuffer<std::int32_t> row_idx_;
    DeviceBuffer<std::int32_t> col_idx_;
    DeviceBuffer<float> edge_weight_;
};

/// Owning device CSC.
class DeviceCsc {
public:
    DeviceCsc() = default;
    explicit DeviceCsc(const CscView& host)
        : shape_(host),
          col_ptr_(device_graph_detail::upload(host.col_ptr, std::int64_t{host.n_cols} + 1)),
          row_idx_(device_graph_detail::upload(host.row_idx, host.m)),
          edge_weight_(device_graph_detail::upload(host.edge_weight, host.m)) {}

    CscView view() const {
        return {shape_.n_rows,   shape_.n_cols,       shape_.m,           col_ptr_.data(),
                row_idx_.data(), edge_weight_.data(), MemorySpace::device};
    }

private:
    CscView shape_;
    DeviceBuffer<std::int32_t> col_ptr_;
    DeviceBuffer<std::int32_t> row_idx_;
    DeviceBuffer<float> edge_weight_;
};

}  // namespace gnntune
