// Memory of torch's allocator without Python: the functions of torch's C shim, the interface that compiled models call
// torch by, and the one of C++ that makes a tensor a Python object. Found by name in the libraries that the process has
// loaded already, as are those that say whether gradients, autocast, deterministic algorithms and dispatch modes are on. Where one of them
// is not there, or does not do what is expected of it, shim_ready() says so and memory comes by Python, a few times slower.
// Products of matrices likewise: shim_multiplies().
#include "_shim.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t (*empty_function)(int64_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                  int32_t device_type, int32_t device_index, void** out);
typedef int32_t (*address_function)(void* tensor, void** out);
typedef int32_t (*delete_function)(void* tensor);
typedef int32_t (*number_function)(void);
typedef PyObject* (*wrap_function)(const void* tensor);

static empty_function empty_strided;
static address_function data_ptr;
static delete_function delete_tensor;
static wrap_function wrap_tensor;

// Types by what DLPack numbers them with, in torch's numbers; devices likewise.
enum { kTypes = 6, kShimDims = 8 };
static struct {
    uint8_t code, bits;
    const char* name;
    int32_t number;
} shim_types[kTypes] = {
    {2, 32, "aoti_torch_dtype_float32", -1},  {2, 16, "aoti_torch_dtype_float16", -1},
    {4, 16, "aoti_torch_dtype_bfloat16", -1}, {0, 32, "aoti_torch_dtype_int32", -1},
    {0, 64, "aoti_torch_dtype_int64", -1},    {1, 8, "aoti_torch_dtype_uint8", -1},
};
static int32_t cpu_number, cuda_number;

static void* function_of(void* library, const char* name) {
    return library ? dlsym(library, name) : NULL;
}

// dlsym() returns functions as what is no function.
#define FIND(pointer, library, name) (*(void**)&(pointer) = function_of(library, name))

static int find_all(void) {
    // Torch's libraries are there, but not for all to see.
    void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    void* python = dlopen("libtorch_python.so", RTLD_LAZY | RTLD_NOLOAD);
    number_function cpu, cuda, number;
    FIND(empty_strided, torch, "aoti_torch_empty_strided");
    FIND(data_ptr, torch, "aoti_torch_get_data_ptr");
    FIND(delete_tensor, torch, "aoti_torch_delete_tensor_object");
    FIND(cpu, torch, "aoti_torch_device_type_cpu");
    FIND(cuda, torch, "aoti_torch_device_type_cuda");
    // THPVariable_Wrap(const at::TensorBase&): a tensor of the shim is the address of such a one.
    FIND(wrap_tensor, python, "_Z16THPVariable_WrapRKN2at10TensorBaseE");
    if (!empty_strided || !data_ptr || !delete_tensor || !cpu || !cuda || !wrap_tensor) return 0;
    cpu_number = cpu();
    cuda_number = cuda();
    for (int i = 0; i < kTypes; ++i) {
        FIND(number, torch, shim_types[i].name);
        if (!number) return 0;
        shim_types[i].number = number();
    }
    return 1;
}

// ---- What is switched on ----

enum { kCpu = 0, kCuda = 1 };  // c10::DeviceType
typedef _Bool (*state_function)(void);
typedef _Bool (*autocast_function)(int8_t device_type);
typedef const void* (*context_function)(void);
typedef int64_t (*count_function)(void);
typedef void* const* (*tracing_function)(void);  // a shared_ptr by reference
typedef _Bool (*of_context_function)(const void* context);

static state_function grad_mode;
static autocast_function autocast_mode;
static context_function global_context;
static of_context_function deterministic_mode;
static count_function count_modes;
static tracing_function tracing_state;
static int asks;

static void find_questions(void) {
    void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    FIND(grad_mode, torch, "aoti_torch_grad_mode_is_enabled");
    // at::autocast::is_autocast_enabled(DeviceType), at::globalContext(), Context::deterministicAlgorithms() const.
    FIND(autocast_mode, torch, "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE");
    FIND(global_context, torch, "_ZN2at13globalContextEv");
    FIND(deterministic_mode, torch, "_ZNK2at7Context23deterministicAlgorithmsEv");
    // c10::impl::TorchDispatchModeTLS::stack_len().
    FIND(count_modes, dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD), "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv");
    // torch::jit::tracer::getTracingState()
    FIND(tracing_state, torch, "_ZN5torch3jit6tracer15getTracingStateEv");
    asks = grad_mode && autocast_mode && global_context && deterministic_mode && count_modes && tracing_state;
}

int shim_asks(void) {
    return asks;
}

void shim_ask_no_more(void) {
    asks = 0;
}

int shim_gradients(void) {
    return grad_mode();
}

int shim_autocast(void) {
    return autocast_mode(kCpu) || autocast_mode(kCuda);
}

int shim_modes(void) {
    return count_modes() != 0 || *tracing_state();
}

int shim_deterministic(void) {
    return deterministic_mode(global_context());
}

static int ready;

int shim_ready(void) {
    return ready;
}

// ---- Memory without a tensor, on a GPU ----

typedef int32_t (*raw_alloc_function)(uint64_t bytes, void** out);
static raw_alloc_function raw_alloc;
static delete_function raw_delete;

int shim_has_raw_memory(void) {
    if (getenv("GNNTUNE_NO_SHIM")) return 0;
    if (!raw_alloc || !raw_delete) {
        void* on_gpu = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
        FIND(raw_delete, on_gpu, "aoti_torch_cuda_caching_allocator_raw_delete");
        FIND(raw_alloc, on_gpu, "aoti_torch_cuda_caching_allocator_raw_alloc");
    }
    return raw_alloc && raw_delete;
}

void* shim_raw_alloc(size_t bytes, size_t alignment, void* user) {
    (void)user;
    void* memory = NULL;
    if (raw_alloc(bytes, &memory) != 0) return NULL;
    if ((uintptr_t)memory % alignment == 0) return memory;
    raw_delete(memory);
    return NULL;
}

void shim_raw_free(void* memory, size_t bytes, void* user) {
    (void)bytes;
    (void)user;
    raw_delete(memory);
}

// ---- Products ----

typedef int32_t (*view_function)(void* tensor, int64_t ndim, const int64_t* sizes, const int64_t* strides,
                                 int64_t offset, void** out);
typedef int32_t (*product_function)(void* out, void* a, void* b);
typedef int32_t (*sum_of_product_function)(void* out, void* summand, void* a, void* b, double beta, double alpha);
typedef int32_t (*sum_function)(void* a, void* b, double alpha, void** out);

enum { kDevices = 2 };  // by whether it is a GPU
static view_function view_of;
static product_function mm_out[kDevices];
static sum_of_product_function addmm_out[kDevices];
static sum_function add_tensors[kDevices];
static size_t place_of_tensor;  // in a Python object; 0: not known

static void find_products(void) {
    void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    void* on_gpu = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    FIND(view_of, torch, "aoti_torch__reinterpret_tensor");
    FIND(mm_out[0], torch, "aoti_torch_cpu_mm_out");
    FIND(mm_out[1], on_gpu, "aoti_torch_cuda_mm_out");
    FIND(addmm_out[0], torch, "aoti_torch_cpu_addmm_out");
    FIND(addmm_out[1], on_gpu, "aoti_torch_cuda_addmm_out");
    FIND(add_tensors[0], torch, "aoti_torch_cpu_add_Tensor");
    FIND(add_tensors[1], on_gpu, "aoti_torch_cuda_add_Tensor");
}

// A Python object of torch has its tensor inside, which is one pointer, at a place that depends on torch's version. So it
// is looked for, in an object whose pointer is known. `wrapped` is what `tensor` became.
static void find_place(PyObject* wrapped, const void* pointer) {
    enum { kFirst = 16, kLast = 40 };
    for (size_t place = kFirst; !place_of_tensor && place <= kLast; place += sizeof pointer) {
        if (memcmp((const char*)wrapped + place, &pointer, sizeof pointer) == 0) place_of_tensor = place;
    }
}

int shim_multiplies(void) {
    return ready && place_of_tensor && view_of;
}

void* shim_tensor_of(PyObject* object) {
    return (char*)object + place_of_tensor;
}

void* shim_view(void* tensor, int32_t ndim, const int64_t* sizes, const int64_t* strides) {
    void* view = NULL;
    return view_of(tensor, ndim, sizes, strides, 0, &view) == 0 ? view : NULL;
}

int shim_product(int on_gpu, void* out, void* a, void* b) {
    if (!mm_out[on_gpu]) return 0;
    int32_t failed;
    Py_BEGIN_ALLOW_THREADS failed = mm_out[on_gpu](out, a, b);
    Py_END_ALLOW_THREADS return !failed;
}

int shim_add_product(int on_gpu, void* out, void* summand, void* a, void* b) {
    if (!addmm_out[on_gpu]) return 0;
    int32_t failed;
    Py_BEGIN_ALLOW_THREADS failed = addmm_out[on_gpu](out, summand, a, b, 1.0, 1.0);
    Py_END_ALLOW_THREADS return !failed;
}

void* shim_sum(int on_gpu, void* a, void* b) {
    if (!add_tensors[on_gpu]) return NULL;
    void* sum = NULL;
    int32_t failed;
    Py_BEGIN_ALLOW_THREADS failed = add_tensors[on_gpu](a, b, 1.0, &sum);
    Py_END_ALLOW_THREADS return failed ? NULL : sum;
}

// ---- Memory ----

int shim_open(PyObject* tensor_type) {
    if (getenv("GNNTUNE_NO_SHIM")) return 0;
    find_questions();
    if (!find_all()) return 0;
    // A try: a tensor of two numbers.
    const int64_t shape[1] = {2};
    void *tensor, *address;
    if (!shim_allocate(2, 32, 0, 0, 1, shape, &tensor, &address)) return 0;
    const void* pointer = *(void* const*)tensor;
    PyObject* wrapped = shim_wrap(tensor);
    ready = wrapped && (PyObject*)Py_TYPE(wrapped) == tensor_type && PyObject_Length(wrapped) == 2;
    find_products();
    if (ready) find_place(wrapped, pointer);
    Py_XDECREF(wrapped);
    PyErr_Clear();
    return ready;
}

int shim_allocate(uint8_t code, uint8_t bits, int on_gpu, int32_t index, int32_t ndim, const int64_t* shape,
                  void** tensor, void** address) {
    int32_t type = -1;
    for (int i = 0; i < kTypes; ++i) {
        if (shim_types[i].code == code && shim_types[i].bits == bits) type = shim_types[i].number;
    }
    if (type < 0 || ndim > kShimDims) return 0;
    int64_t strides[kShimDims];
    int64_t stride = 1;
    for (int32_t d = ndim - 1; d >= 0; --d) {
        strides[d] = stride;
        stride *= shape[d] > 1 ? shape[d] : 1;
    }
    if (empty_strided(ndim, shape, strides, type, on_gpu ? cuda_number : cpu_number, on_gpu ? index : 0, tensor) != 0) {
        return 0;
    }
    if (data_ptr(*tensor, address) == 0) return 1;
    delete_tensor(*tensor);
    return 0;
}

void shim_free(void* tensor) {
    delete_tensor(tensor);
}

PyObject* shim_wrap(void* tensor) {
    PyObject* wrapped = wrap_tensor(tensor);
    delete_tensor(tensor);
    return wrapped;
}
