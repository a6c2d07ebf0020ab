// gnntune._native: libgnntune's C interface for Python. With _tiled.c the only file of the package that knows the structs
// of gnntune.h.
//
// Handles are addresses, as Python integers; 0 is none. Who holds one is the Python classes' business, and so is what an
// argument means: this file checks types only. Every call of the library is made without the interpreter's lock, since
// the allocator of a context may be Python's. A call that fails raises what gnntune._errors.error_of() makes of it.
//
// Built against the stable ABI of CPython 3.10, so one file serves every later version.
#include "_native.h"
#include "_shim.h"

#include <gnntune/gnntune.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

// ---- Between Python and C ----

static PyObject* data_ptr_name;  // "data_ptr", what a torch tensor answers with its address

static PyObject* destroy_plan;  // plan_destroy() of the module

PyObject* plan_destroyer(void) {
    return destroy_plan;
}

PyObject* raise_status(int32_t status) {
    PyObject* errors = PyImport_ImportModule("gnntune._errors");
    if (!errors) return NULL;
    PyObject* error = PyObject_CallMethod(errors, "error_of", "is", (int)status, gnntune_last_error());
    Py_DECREF(errors);
    if (!error) return NULL;
    PyErr_SetObject((PyObject*)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

PyObject* from_pointer(const void* pointer) {
    return PyLong_FromVoidPtr((void*)pointer);
}

// A handle or an address: a Python integer. 0 and an exception for anything else.
void* to_pointer(PyObject* object) {
    return PyLong_AsVoidPtr(object);
}

// The address of an operand: None, an integer, or an object with data_ptr(). Returns 0 with an exception set.
int address_of(PyObject* object, void** out) {
    *out = NULL;
    if (object == Py_None) return 1;
    if (PyLong_Check(object)) {
        *out = PyLong_AsVoidPtr(object);
        return *out || !PyErr_Occurred();
    }
    PyObject* number = PyObject_CallMethodObjArgs(object, data_ptr_name, NULL);
    if (!number) return 0;
    *out = PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    return *out || !PyErr_Occurred();
}

// Text of a function that works as snprintf does.
PyObject* text_of(text_function function, PyObject* handle) {
    const void* pointer = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    size_t size = 0;
    char* buffer = NULL;
    for (;;) {
        size_t needed = 0;
        Py_BEGIN_ALLOW_THREADS needed = function(pointer, buffer, size);
        Py_END_ALLOW_THREADS if (needed < size) break;
        size = needed + 1;
        char* larger = PyMem_Realloc(buffer, size);
        if (!larger) {
            PyMem_Free(buffer);
            return PyErr_NoMemory();
        }
        buffer = larger;
    }
    PyObject* text = PyUnicode_DecodeUTF8(buffer, (Py_ssize_t)strlen(buffer), "replace");
    PyMem_Free(buffer);
    return text;
}

// ---- Version and contexts ----

static PyObject* version(PyObject* self, PyObject* none) {
    (void)self;
    (void)none;
    return PyLong_FromUnsignedLong(gnntune_version());
}

// What a context allocates with: Python callables. Made with a context, and kept as long as the process: graphs and
// plans may outlive their context, and contexts are few.
typedef struct {
    PyObject* alloc;  // (bytes) -> address
    PyObject* free;   // (address, bytes)
} Allocator;

static void* call_alloc(size_t bytes, size_t alignment, void* user) {
    const Allocator* allocator = user;
    void* memory = NULL;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject* result = PyObject_CallFunction(allocator->alloc, "n", (Py_ssize_t)bytes);
    if (result) {
        memory = PyLong_AsVoidPtr(result);
        Py_DECREF(result);
    }
    // Out of memory and misaligned are one to the library: it takes another config, or says that there is no memory.
    PyErr_Clear();
    if ((uintptr_t)memory % alignment != 0) {
        PyObject* given_back = PyObject_CallFunction(allocator->free, "Nn", from_pointer(memory), (Py_ssize_t)bytes);
        Py_XDECREF(given_back);
        PyErr_Clear();
        memory = NULL;
    }
    PyGILState_Release(state);
    return memory;
}

static void call_free(void* memory, size_t bytes, void* user) {
    const Allocator* allocator = user;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject* result = PyObject_CallFunction(allocator->free, "Nn", from_pointer(memory), (Py_ssize_t)bytes);
    if (!result) PyErr_WriteUnraisable(allocator->free);
    Py_XDECREF(result);
    PyGILState_Release(state);
}

// open(path, backend, device, sources, require_database, tune_budget_us, format_limit_bytes, alloc, free,
//      memory_in_stream_order) -> context. `alloc` is a callable, as `free` is, or True: torch's own functions, if has_raw_memory().
static PyObject* open_context(PyObject* self, PyObject* args) {
    (void)self;
    gnntune_open_options options = GNNTUNE_OPEN_OPTIONS_INIT;
    PyObject *path, *alloc, *free_;
    long long budget, limit;
    int in_stream_order;
    if (!PyArg_ParseTuple(args, "OiiipLLOOp", &path, &options.backend, &options.device, &options.sources,
                          &options.require_database, &budget, &limit, &alloc, &free_, &in_stream_order)) {
        return NULL;
    }
    options.tune_budget_us = budget;
    options.memory_in_stream_order = in_stream_order;
    if (limit >= 0) options.format_limit_bytes = (uint64_t)limit;
    PyObject* bytes = NULL;
    if (path != Py_None && !PyUnicode_FSConverter(path, &bytes)) return NULL;
    Allocator* allocator = NULL;
    if (alloc == Py_True) {
        options.alloc = shim_raw_alloc;
        options.free = shim_raw_free;
    } else if (alloc != Py_None) {
        allocator = PyMem_Malloc(sizeof *allocator);
        if (!allocator) {
            Py_XDECREF(bytes);
            return PyErr_NoMemory();
        }
        Py_INCREF(alloc);
        Py_INCREF(free_);
        *allocator = (Allocator){alloc, free_};
        options.alloc = call_alloc;
        options.free = call_free;
        options.allocator_user = allocator;
    }
    gnntune_context* context = NULL;
    gnntune_status status;
    const char* text = bytes ? PyBytes_AsString(bytes) : NULL;
    Py_BEGIN_ALLOW_THREADS status = gnntune_open(text, &options, &context);
    Py_END_ALLOW_THREADS Py_XDECREF(bytes);
    if (status == GNNTUNE_OK) return from_pointer(context);
    if (allocator) {
        Py_DECREF(allocator->alloc);
        Py_DECREF(allocator->free);
        PyMem_Free(allocator);
    }
    return raise_status(status);
}

static PyObject* close_context(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_context* context = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS gnntune_close(context);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject* context_backend(PyObject* self, PyObject* handle) {
    (void)self;
    const gnntune_context* context = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    return PyLong_FromLong(gnntune_context_backend(context));
}

static PyObject* context_device(PyObject* self, PyObject* handle) {
    (void)self;
    const gnntune_context* context = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    return PyLong_FromLong(gnntune_context_device(context));
}

static PyObject* context_describe(PyObject* self, PyObject* handle) {
    (void)self;
    return text_of((text_function)gnntune_context_describe, handle);
}

// ---- Graphs ----

// graph(context, memory, row_ptr, row_idx, wide_rows, col_idx, wide_ids, n_rows, n_cols, m, trusted, transient,
//       longest_row, stream) -> graph. One of row_ptr and row_idx is 0: the edges stand by rows, or in any order. wide_rows
// is about row_ptr; longest_row too. The ids of both arrays of edges in any order are as wide as each other.
static PyObject* create_graph(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *context, *row_ptr, *row_idx, *col_idx, *stream;
    gnntune_csr csr = GNNTUNE_CSR_INIT;
    gnntune_coo coo = GNNTUNE_COO_INIT;
    long long n_rows, n_cols, m;
    if (!PyArg_ParseTuple(args, "OiOOpOpLLLppiO", &context, &csr.memory, &row_ptr, &row_idx, &csr.offset_type, &col_idx,
                          &csr.id_type, &n_rows, &n_cols, &m, &csr.trusted, &csr.transient, &csr.longest_row,
                          &stream)) {
        return NULL;
    }
    csr.row_ptr = to_pointer(row_ptr);
    coo.row_idx = to_pointer(row_idx);
    csr.col_idx = coo.col_idx = to_pointer(col_idx);
    csr.n_rows = coo.n_rows = n_rows;
    csr.n_cols = coo.n_cols = n_cols;
    csr.m = coo.m = m;
    coo.memory = csr.memory;
    coo.id_type = csr.id_type;
    coo.trusted = csr.trusted;
    coo.transient = csr.transient;
    gnntune_context* c = to_pointer(context);
    gnntune_stream s = to_pointer(stream);
    if (PyErr_Occurred()) return NULL;
    gnntune_graph* graph = NULL;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status =
        csr.row_ptr ? gnntune_graph_create_csr(c, &csr, s, &graph) : gnntune_graph_create_coo(c, &coo, s, &graph);
    Py_END_ALLOW_THREADS return status == GNNTUNE_OK ? from_pointer(graph) : raise_status(status);
}

static PyObject* graph_destroy(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_graph* graph = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS gnntune_graph_destroy(graph);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject* graph_fingerprint(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *handle, *stream;
    if (!PyArg_ParseTuple(args, "OO", &handle, &stream)) return NULL;
    gnntune_graph* graph = to_pointer(handle);
    gnntune_stream s = to_pointer(stream);
    if (PyErr_Occurred()) return NULL;
    char digits[33];
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_graph_fingerprint(graph, s, digits);
    Py_END_ALLOW_THREADS return status == GNNTUNE_OK ? PyUnicode_FromString(digits) : raise_status(status);
}

static PyObject* graph_release_formats(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_graph* graph = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_graph_release_formats(graph);
    Py_END_ALLOW_THREADS if (status != GNNTUNE_OK) return raise_status(status);
    Py_RETURN_NONE;
}

static PyObject* graph_format_bytes(PyObject* self, PyObject* handle) {
    (void)self;
    const gnntune_graph* graph = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    return PyLong_FromSize_t(gnntune_graph_format_bytes(graph));
}

// ---- Plans ----

int read_problem(PyObject* tuple, gnntune_problem* problem) {
    const gnntune_problem defaults = GNNTUNE_PROBLEM_INIT;
    long long limit;
    *problem = defaults;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "expected what Problem.native() has returned");
        return 0;
    }
    if (!PyArg_ParseTuple(tuple, "iiiiiippppiiddLz", &problem->op, &problem->k, &problem->heads, &problem->dtype,
                          &problem->reduce, &problem->direction, &problem->weighted, &problem->self_loop,
                          &problem->deterministic, &problem->allow_sampling, &problem->policy,
                          &problem->operand_alignment, &problem->max_error, &problem->expected_calls, &limit,
                          &problem->config)) {
        return 0;
    }
    if (limit >= 0) problem->workspace_limit_bytes = (uint64_t)limit;
    return 1;
}

// plan_create(context, graph, stream, op, k, ...) -> plan. The problem's arguments are those of read_problem().
static PyObject* plan_create(PyObject* self, PyObject* args) {
    (void)self;
    enum { kBefore = 3 };
    gnntune_problem problem;
    if (PyTuple_Size(args) < kBefore) {
        PyErr_SetString(PyExc_TypeError, "expected plan_create(context, graph, stream, *problem)");
        return NULL;
    }
    gnntune_context* c = to_pointer(PyTuple_GetItem(args, 0));
    gnntune_graph* g = to_pointer(PyTuple_GetItem(args, 1));
    gnntune_stream s = to_pointer(PyTuple_GetItem(args, 2));
    if (PyErr_Occurred()) return NULL;
    PyObject* rest = PyTuple_GetSlice(args, kBefore, PyTuple_Size(args));
    gnntune_plan* plan = NULL;
    gnntune_status status = GNNTUNE_OK;
    const int known = rest && read_problem(rest, &problem);
    if (known) {
        Py_BEGIN_ALLOW_THREADS status = gnntune_plan_create(c, g, &problem, s, &plan);
        Py_END_ALLOW_THREADS
    }
    Py_XDECREF(rest);  // has the text of the config
    if (!known) return NULL;
    return status == GNNTUNE_OK ? from_pointer(plan) : raise_status(status);
}

PyObject* problem_of(PyObject* self, PyObject* args) {
    (void)self;
    gnntune_problem problem;
    if (!read_problem(args, &problem)) return NULL;
    if (problem.config) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char*)&problem, sizeof problem);
}

void* make_plan(void* context, void* graph, PyObject* problem, void* stream) {
    const gnntune_problem* p = (const gnntune_problem*)PyBytes_AsString(problem);
    gnntune_plan* plan = NULL;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_plan_create(context, graph, p, stream, &plan);
    if (status == GNNTUNE_OK && strstr(gnntune_plan_config(plan), "preprocess=1")) {
        gnntune_plan_destroy(plan);
        plan = NULL;
    }
    Py_END_ALLOW_THREADS if (status != GNNTUNE_OK && status != GNNTUNE_UNSUPPORTED) raise_status(status);
    return plan;
}

static PyObject* plan_destroy(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_plan* plan = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS gnntune_plan_destroy(plan);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

// plan_facts(plan) -> (config, source, workspace_bytes, format_bytes, own_bytes, prepare_us)
static PyObject* plan_facts(PyObject* self, PyObject* handle) {
    (void)self;
    const gnntune_plan* plan = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("ssnnnd", gnntune_plan_config(plan), gnntune_plan_source(plan),
                         (Py_ssize_t)gnntune_plan_workspace_bytes(plan), (Py_ssize_t)gnntune_plan_format_bytes(plan),
                         (Py_ssize_t)gnntune_plan_own_bytes(plan), gnntune_plan_prepare_us(plan));
}

// Whether runs of the plan on several streams may overlap: some configs of cuSPARSE keep a buffer.
static PyObject* plan_is_shared(PyObject* self, PyObject* handle) {
    (void)self;
    const gnntune_plan* plan = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(!strstr(gnntune_plan_config(plan), "preprocess=1"));
}

static PyObject* plan_explain(PyObject* self, PyObject* handle) {
    (void)self;
    return text_of((text_function)gnntune_plan_explain, handle);
}

// ---- Runs ----

typedef struct {
    const char* name;
    size_t offset;
} Field;

#define FIELD(name) \
    { #name, offsetof(gnntune_operands, name) }
static const Field kFields[] = {
    FIELD(x),
    FIELD(x_row),
    FIELD(key),
    FIELD(edge_weight),
    FIELD(self_weight),
    FIELD(score_row),
    FIELD(score_col),
    FIELD(beta),
    FIELD(grad_y),
    FIELD(y_saved),
    FIELD(lse_saved),
    FIELD(argmax_saved),
    FIELD(y),
    FIELD(lse),
    FIELD(argmax),
    FIELD(y_self),
    FIELD(grad_x),
    FIELD(grad_x_row),
    FIELD(grad_key),
    FIELD(grad_edge_weight),
    FIELD(grad_self_weight),
    FIELD(grad_score_row),
    FIELD(grad_score_col),
    FIELD(grad_beta),
    FIELD(out_ptr),
    FIELD(out_idx),
    FIELD(out_edge_id),
    FIELD(seed_offset),
};
#undef FIELD
_Static_assert(sizeof kFields / sizeof kFields[0] == kMostArrays, "kMostArrays is the number of arrays");

// All of a run but its arrays: made once by prepare(), and read by every run. It is the content of a bytes object.
struct Call {
    const gnntune_plan* plan;
    size_t workspace_bytes;
    int32_t arrays;
    int32_t offsets[kMostArrays];  // in gnntune_operands, of each array in the order in which run() gets them
    gnntune_operands operands;     // with the numbers of the run, and no arrays
};

const Call* call_of(PyObject* object) {
    char* bytes = NULL;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0) return NULL;
    if (size != sizeof(Call)) {
        PyErr_SetString(PyExc_TypeError, "expected what prepare() has returned");
        return NULL;
    }
    return (const Call*)bytes;
}

int run_plan(const Call* call, const void* plan, void* const* arrays, void* workspace, size_t workspace_bytes,
             void* stream) {
    gnntune_operands operands = call->operands;
    for (int32_t i = 0; i < call->arrays; ++i) {
        memcpy((char*)&operands + call->offsets[i], &arrays[i], sizeof arrays[i]);
    }
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_run(plan, &operands, workspace, workspace_bytes, stream);
    Py_END_ALLOW_THREADS if (status == GNNTUNE_OK) return 1;
    raise_status(status);
    return 0;
}

int run_call(const Call* call, void* const* arrays, void* workspace, void* stream) {
    return run_plan(call, call->plan, arrays, workspace, call->workspace_bytes, stream);
}

size_t workspace_of(const void* plan) {
    return gnntune_plan_workspace_bytes(plan);
}

// prepare(plan, names, activation, scale, negative_slope, dropout, seed) -> call, for run(). A plan of 0: for run_plan().
static PyObject* prepare(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *plan, *names;
    struct Call call;
    memset(&call, 0, sizeof call);
    const gnntune_operands defaults = GNNTUNE_OPERANDS_INIT;
    call.operands = defaults;
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "OO!ifffK", &plan, &PyTuple_Type, &names, &call.operands.activation,
                          &call.operands.scale, &call.operands.negative_slope, &call.operands.dropout, &seed)) {
        return NULL;
    }
    call.operands.seed = seed;
    call.plan = to_pointer(plan);
    if (PyErr_Occurred()) return NULL;
    call.workspace_bytes = gnntune_plan_workspace_bytes(call.plan);
    const Py_ssize_t count = PyTuple_Size(names);
    if (count > kMostArrays) return PyErr_Format(PyExc_ValueError, "%zd operands are more than there are", count);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* name = PyTuple_GetItem(names, i);
        size_t f = 0;
        while (f < kMostArrays && (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, kFields[f].name)))
            ++f;
        if (f == kMostArrays) return PyErr_Format(PyExc_ValueError, "%R is no operand", name);
        call.offsets[i] = (int32_t)kFields[f].offset;
    }
    call.arrays = (int32_t)count;
    return PyBytes_FromStringAndSize((const char*)&call, sizeof call);
}

// run(call, stream, workspace, *arrays) -> bool
//
// `workspace` and each array: an address, a tensor, or None. False, and nothing was run, where one of them does not
// stand at a multiple of 16 bytes, as plans are made for: run again with copies that do.
static PyObject* run(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count < 3) {
        PyErr_SetString(PyExc_TypeError, "expected run(call, stream, workspace, *arrays)");
        return NULL;
    }
    const Call* call = call_of(args[0]);
    if (!call) return NULL;
    void* stream = PyLong_AsVoidPtr(args[1]);
    if (!stream && PyErr_Occurred()) return NULL;
    void* workspace;
    if (!address_of(args[2], &workspace)) return NULL;
    if (count - 3 != call->arrays) {
        return PyErr_Format(PyExc_TypeError, "expected %d arrays, got %zd", call->arrays, count - 3);
    }
    void* arrays[kMostArrays];
    for (int32_t i = 0; i < call->arrays; ++i) {
        if (!address_of(args[3 + i], &arrays[i])) return NULL;
        if ((uintptr_t)arrays[i] % 16 != 0) Py_RETURN_FALSE;
    }
    if (!run_call(call, arrays, workspace, stream)) return NULL;
    Py_RETURN_TRUE;
}

// repeat(call, stream, workspace, times, *arrays) -> seconds of wall time of as many calls of gnntune_run, one after the
// other and nothing between them: what a call costs without Python.
static PyObject* repeat(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count < 4) {
        PyErr_SetString(PyExc_TypeError, "expected repeat(call, stream, workspace, times, *arrays)");
        return NULL;
    }
    const Call* call = call_of(args[0]);
    if (!call) return NULL;
    void* stream = PyLong_AsVoidPtr(args[1]);
    void* workspace;
    if (PyErr_Occurred() || !address_of(args[2], &workspace)) return NULL;
    const long times = PyLong_AsLong(args[3]);
    if (count - 4 != call->arrays) return PyErr_Format(PyExc_TypeError, "expected %d arrays", call->arrays);
    gnntune_operands operands = call->operands;
    for (int32_t i = 0; i < call->arrays; ++i) {
        void* address;
        if (!address_of(args[4 + i], &address)) return NULL;
        memcpy((char*)&operands + call->offsets[i], &address, sizeof address);
    }
    gnntune_status status = GNNTUNE_OK;
    struct timespec begin, end;
    Py_BEGIN_ALLOW_THREADS clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < times && status == GNNTUNE_OK; ++i)
        status = gnntune_run(call->plan, &operands, workspace, call->workspace_bytes, stream);
    clock_gettime(CLOCK_MONOTONIC, &end);
    Py_END_ALLOW_THREADS if (status != GNNTUNE_OK) return raise_status(status);
    return PyFloat_FromDouble((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
}

// has_shim() -> bool: whether memory of torch comes without Python.
static PyObject* has_shim(PyObject* self, PyObject* none) {
    (void)self;
    (void)none;
    return PyBool_FromLong(shim_ready());
}

// has_layers() -> bool: whether layers are computed here.
static PyObject* has_layers(PyObject* self, PyObject* none) {
    (void)self;
    (void)none;
    return PyBool_FromLong(shim_multiplies() && shim_asks());
}

// has_raw_memory() -> bool: whether open() may be told that torch's functions are its memory.
static PyObject* has_raw_memory(PyObject* self, PyObject* none) {
    (void)self;
    (void)none;
    return PyBool_FromLong(shim_has_raw_memory());
}

// ---- The module ----

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, NULL},
    {"open", open_context, METH_VARARGS, NULL},
    {"close", close_context, METH_O, NULL},
    {"context_backend", context_backend, METH_O, NULL},
    {"context_device", context_device, METH_O, NULL},
    {"context_describe", context_describe, METH_O, NULL},
    {"graph", create_graph, METH_VARARGS, NULL},
    {"graph_destroy", graph_destroy, METH_O, NULL},
    {"graph_fingerprint", graph_fingerprint, METH_VARARGS, NULL},
    {"graph_release_formats", graph_release_formats, METH_O, NULL},
    {"graph_format_bytes", graph_format_bytes, METH_O, NULL},
    {"plan_create", plan_create, METH_VARARGS, NULL},
    {"plan_destroy", plan_destroy, METH_O, NULL},
    {"problem", problem_of, METH_VARARGS, NULL},
    {"plan_facts", plan_facts, METH_O, NULL},
    {"plan_is_shared", plan_is_shared, METH_O, NULL},
    {"plan_explain", plan_explain, METH_O, NULL},
    {"prepare", prepare, METH_VARARGS, NULL},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, NULL},
    {"repeat", (PyCFunction)(void (*)(void))repeat, METH_FASTCALL, NULL},
    {"tiled_memory", tiled_memory, METH_VARARGS, NULL},
    {"tiled_graph", tiled_graph, METH_VARARGS, NULL},
    {"tiled_graph_destroy", tiled_graph_destroy, METH_O, NULL},
    {"tiled_graph_fingerprint", tiled_graph_fingerprint, METH_O, NULL},
    {"tiled_plan", tiled_plan, METH_VARARGS, NULL},
    {"tiled_plan_destroy", tiled_plan_destroy, METH_O, NULL},
    {"tiled_plan_explain", tiled_plan_explain, METH_O, NULL},
    {"tiled_run", tiled_run, METH_VARARGS, NULL},
    {"edge_list", (PyCFunction)(void (*)(void))edge_list, METH_FASTCALL, NULL},
    {"head_scores", head_scores, METH_VARARGS, NULL},
    {"head_scores_grad", head_scores_grad, METH_VARARGS, NULL},
    {"head_scores_workspace", head_scores_workspace, METH_VARARGS, NULL},
    {"has_shim", has_shim, METH_NOARGS, NULL},
    {"has_layers", has_layers, METH_NOARGS, NULL},
    {"has_raw_memory", has_raw_memory, METH_NOARGS, NULL},
    {"set_torch", set_torch, METH_VARARGS, NULL},
    {"set_autograd", set_autograd, METH_VARARGS, NULL},
    {"tensor_call", tensor_call, METH_VARARGS, NULL},
    {"recipe", recipe, METH_VARARGS, NULL},
    {"run_tensors", (PyCFunction)(void (*)(void))run_tensors, METH_FASTCALL, NULL},
    {"plain", (PyCFunction)(void (*)(void))plain, METH_FASTCALL, NULL},
    {"apply", (PyCFunction)(void (*)(void))apply, METH_FASTCALL, NULL},
    {"backward_of", backward_of, METH_O, NULL},
    {"forward", (PyCFunction)(void (*)(void))forward, METH_FASTCALL, NULL},
    {"set_layers", set_layers, METH_VARARGS, NULL},
    {"set_modules", set_modules, METH_VARARGS, NULL},
    {"layer_graph", (PyCFunction)(void (*)(void))layer_graph, METH_FASTCALL, NULL},
    {"plain_map", plain_map, METH_O, NULL},
    {"forward_layer", (PyCFunction)(void (*)(void))forward_layer, METH_FASTCALL, NULL},
    {"backward_layer", (PyCFunction)(void (*)(void))backward_layer, METH_FASTCALL, NULL},
    {"backward_of_layers", backward_of_layers, METH_O, NULL},
    {"layer_mapped", (PyCFunction)(void (*)(void))layer_mapped, METH_FASTCALL, NULL},
    {"layer_gat", (PyCFunction)(void (*)(void))layer_gat, METH_FASTCALL, NULL},
    {"layer_agnn", (PyCFunction)(void (*)(void))layer_agnn, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

// Names of gnntune.h's enumerators, and the numbers behind them, for gnntune._names.
static int add_names(PyObject* module) {
    static const struct {
        const char* name;
        long value;
    } kNames[] = {
#define NAME(name) {#name, GNNTUNE_##name}
        NAME(OK),
        NAME(INVALID_ARGUMENT),
        NAME(INVALID_GRAPH),
        NAME(NO_DEVICE),
        NAME(DATABASE),
        NAME(UNSUPPORTED),
        NAME(RUNTIME),
        NAME(OUT_OF_MEMORY),
        NAME(INTERNAL),
        NAME(BACKEND_AUTO),
        NAME(BACKEND_CPU),
        NAME(BACKEND_CUDA),
        NAME(HOST),
        NAME(DEVICE),
        NAME(SPMM),
        NAME(SDDMM),
        NAME(SPMM_GRAD),
        NAME(EDGE_SOFTMAX),
        NAME(GAT),
        NAME(GAT_GRAD),
        NAME(AGNN),
        NAME(AGNN_GRAD),
        NAME(GCN_NORM),
        NAME(COO_TO_CSR),
        NAME(CSR_TO_CSC),
        NAME(ATTENTION),
        NAME(ATTENTION_GRAD),
        NAME(F32),
        NAME(F16),
        NAME(BF16),
        NAME(SUM),
        NAME(MEAN),
        NAME(MAX),
        NAME(FORWARD),
        NAME(REVERSED),
        NAME(HOT),
        NAME(COLD),
        NAME(GRAPH),
        NAME(NO_ACTIVATION),
        NAME(LEAKY_RELU),
        NAME(EXP),
        NAME(SOURCES_DEFAULT),
        NAME(DB_THEN_MODEL),
        NAME(DB_ONLY),
        NAME(TUNE_ON_MISS),
        NAME(TILES_AUTO),
        NAME(TILES_RESIDENT),
        NAME(TILES_STREAMED),
#undef NAME
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (PyModule_AddIntConstant(module, kNames[i].name, kNames[i].value) < 0) return -1;
    }
    return 0;
}

static int execute(PyObject* module) {
    data_ptr_name = PyUnicode_InternFromString("data_ptr");
    if (!data_ptr_name || !intern_tensor_names() || !intern_gradient_names() || !intern_layer_names() ||
        !add_handle_type(module)) {
        return -1;
    }
    destroy_plan = PyObject_GetAttrString(module, "plan_destroy");
    if (!destroy_plan) return -1;
    return add_names(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void*)execute}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "gnntune._native",
    "libgnntune's C interface; internal.",
    0,
    methods,
    slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
