// Memory of torch's allocator, and what is switched on in torch, without Python; _shim.c says how.
#ifndef GNNTUNE_SHIM_H
#define GNNTUNE_SHIM_H

#include "_native.h"

// Looks for torch's functions, once, when torch is there: whether the others may be called. `tensor_type` is torch.Tensor.
int shim_open(PyObject* tensor_type);
int shim_ready(void);

// A contiguous tensor with memory of torch's, on the CPU or a CUDA device, on that one's current stream; its type in
// DLPack's numbers. 0, and no exception, if there is none to be had. Needs no lock of the interpreter.
int shim_allocate(uint8_t code, uint8_t bits, int on_gpu, int32_t index, int32_t ndim, const int64_t* shape,
                  void** tensor, void** address);
void shim_free(void* tensor);

// Memory of torch's on the current device and its current stream, as a context allocates (gnntune_open_options); where
// shim_has_raw_memory(). Needs no lock of the interpreter.
int shim_has_raw_memory(void);
void* shim_raw_alloc(size_t bytes, size_t alignment, void* user);
void shim_raw_free(void* memory, size_t bytes, void* user);

// The tensor as a Python object, which it belongs to from now on. NULL and an exception if torch fails.
PyObject* shim_wrap(void* tensor);

// Whether the functions below may be called: all but shim_tensor_of() may fail still, where this torch has no such function
// or refuses, and then say so and leave no exception. Python does it then, or has the words. On a CPU or on a GPU.
int shim_multiplies(void);
// The tensor in a Python object of torch's own types, as the others take it. Borrowed.
void* shim_tensor_of(PyObject* object);
// The same memory as another shape: to be freed. NULL if that fails.
void* shim_view(void* tensor, int32_t ndim, const int64_t* sizes, const int64_t* strides);
// out = a b, of matrices.
int shim_product(int on_gpu, void* out, void* a, void* b);
// out = summand + a b. The summand may be `out`, or a row that is added to each.
int shim_add_product(int on_gpu, void* out, void* summand, void* a, void* b);
// a + b: a new tensor. NULL if that fails.
void* shim_sum(int on_gpu, void* a, void* b);

// What is on in this thread, 0 or 1 each, where shim_asks(): their functions were found, and nobody called
// shim_ask_no_more() since they did not say what Python says.
int shim_asks(void);
void shim_ask_no_more(void);
int shim_gradients(void);
int shim_autocast(void);
int shim_deterministic(void);
int shim_modes(void);  // of dispatch, or torch.jit.trace

#endif
