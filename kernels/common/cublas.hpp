// One product of cuBLAS, which is opened at run time: it is 600 MB that an application without dense graphs neither
// needs nor loads (docs/adr/0013-libraries-of-cuda-are-opened-at-run-time.md).
//
// Thread-safety: every function may be called from many threads. A device has one handle; enqueueing takes turns on the
// host for the few microseconds that a call takes. On the device runs are independent: each brings its own workspace,
// and cuBLAS promises repeatable results to a handle that serves many streams if each has its workspace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// c [rows, cols] = a [rows, inner] b [inner, cols], or a b^T with b [cols, inner]. Device memory, row-major, fp32; the
/// strides are in elements, at least the row's length. No size is zero. Sums are formed in fp32.
struct DenseProduct {
    std::int32_t rows = 0;
    std::int32_t cols = 0;
    std::int32_t inner = 0;
    const float* a = nullptr;
    std::int32_t a_stride = 0;
    const float* b = nullptr;
    std::int32_t b_stride = 0;
    bool b_transposed = false;
    float* c = nullptr;
    std::int32_t c_stride = 0;
    /// fp32: products of fp32 operands, without tensor cores. tf32: cuBLAS may drop the last 13 bits of each operand.
    Precision precision = Precision::fp32;
};

/// Whether cuBLAS is here and would do what `precision` says. Does not load it where a look at the file system will do.
Verdict find_cublas(Precision precision);

/// Loads cuBLAS and makes the current device's handle, so that no run has to. Allocates and synchronises. Throws
/// ErrorKind::unsupported if the library cannot be loaded.
void open_cublas();

/// Bytes of workspace for a product of this many results on the device of `compute_capability` (90 for 9.0).
std::size_t cublas_workspace_bytes(std::int64_t results, std::int32_t compute_capability);

/// Enqueues the product on `stream`, after open_cublas() on the same device. No allocation, no synchronisation; may be
/// captured. `workspace` is aligned to 256 bytes and belongs to the product until it has ended. Throws
/// ErrorKind::runtime with cuBLAS's words.
void enqueue_product(const DenseProduct& product, void* workspace, std::size_t workspace_bytes, StreamHandle stream);

}  // namespace gnntune::kernels
