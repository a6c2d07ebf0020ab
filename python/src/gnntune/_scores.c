// gnntune_head_scores and gnntune_head_scores_grad: of plain tensors, for _layers.c, and of addresses, for Python.
#include "_scores.h"

#include <gnntune/gnntune.h>
#include <string.h>

enum { kScoreArrays = 5, kGradArrays = 8 };  // in the order of the functions' arguments

typedef struct {
    void* context;
    int64_t n;
    int32_t heads, k, dtype;
    void* stream;
} Shape;

static int run_scores(const Shape* s, void* const* a) {
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status =
        gnntune_head_scores(s->context, s->n, s->heads, s->k, s->dtype, a[0], a[1], a[2], a[3], a[4], s->stream);
    Py_END_ALLOW_THREADS if (status == GNNTUNE_OK) return 1;
    raise_status(status);
    return 0;
}

static int run_gradients(const Shape* s, void* const* a, void* workspace, size_t bytes) {
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status =
        gnntune_head_scores_grad(s->context, s->n, s->heads, s->k, s->dtype, a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                                 a[7], workspace, bytes, s->stream);
    Py_END_ALLOW_THREADS if (status == GNNTUNE_OK) return 1;
    raise_status(status);
    return 0;
}

// ---- Of addresses ----

static int read_call(PyObject* args, const char* format, Shape* s, void** arrays, Py_ssize_t count,
                     PyObject** workspace, Py_ssize_t* bytes) {
    PyObject *context, *stream, *all;
    long long n;
    if (!PyArg_ParseTuple(args, format, &context, &n, &s->heads, &s->k, &s->dtype, &stream, &PyTuple_Type, &all,
                          workspace, bytes)) {
        return 0;
    }
    if (PyTuple_Size(all) != count) {
        PyErr_Format(PyExc_TypeError, "expected %zd arrays", count);
        return 0;
    }
    s->n = n;
    s->context = to_pointer(context);
    if (!PyErr_Occurred()) s->stream = to_pointer(stream);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); ++i) address_of(PyTuple_GetItem(all, i), &arrays[i]);
    return !PyErr_Occurred();
}

// head_scores(context, n, heads, k, dtype, stream, (x, att_row, att_col, score_row, score_col))
PyObject* head_scores(PyObject* self, PyObject* args) {
    (void)self;
    Shape s;
    void* arrays[kScoreArrays];
    if (!read_call(args, "OLiiiOO!", &s, arrays, kScoreArrays, NULL, NULL) || !run_scores(&s, arrays)) return NULL;
    Py_RETURN_NONE;
}

// head_scores_grad(context, n, heads, k, dtype, stream, (x, att_row, att_col, grad_score_row, grad_score_col, grad_x,
// grad_att_row, grad_att_col), workspace, bytes): of the last three arrays None is not wanted.
PyObject* head_scores_grad(PyObject* self, PyObject* args) {
    (void)self;
    Shape s;
    void *arrays[kGradArrays], *memory;
    PyObject* workspace;
    Py_ssize_t bytes;
    if (!read_call(args, "OLiiiOO!On", &s, arrays, kGradArrays, &workspace, &bytes)) return NULL;
    if (!address_of(workspace, &memory) || !run_gradients(&s, arrays, memory, (size_t)bytes)) return NULL;
    Py_RETURN_NONE;
}

// head_scores_workspace(n, heads, k) -> bytes
PyObject* head_scores_workspace(PyObject* self, PyObject* args) {
    (void)self;
    long long n;
    int heads, k;
    if (!PyArg_ParseTuple(args, "Lii", &n, &heads, &k)) return NULL;
    return PyLong_FromSize_t(gnntune_head_scores_workspace_bytes(n, heads, k));
}

// ---- Of tensors ----

int context_is_there(PyObject* graph, const DlTensor* features) {
    const void* context = context_of_graph(graph);
    if (!context) return PyErr_Occurred() ? -1 : 0;
    if (features->device.device_type == kDlCpu) return gnntune_context_backend(context) == GNNTUNE_BACKEND_CPU;
    return features->device.device_type == kDlCuda && gnntune_context_backend(context) == GNNTUNE_BACKEND_CUDA &&
           gnntune_context_device(context) == features->device.device_id;
}

int32_t element_type(DlType type) {
    if (type.bits == 32) return GNNTUNE_F32;
    return type.code == kDlBfloat ? GNNTUNE_BF16 : GNNTUNE_F16;
}

// The operands of a call, and what holds copies of those that did not lie as they have to.
typedef struct {
    DlTensor features;
    Shape shape;
    void* arrays[kGradArrays];
    PyObject* held[kGradArrays];
} ScoreCall;

static int open_call(PyObject* graph, PyObject* features, ScoreCall* call) {
    memset(call, 0, sizeof *call);
    DlTensor* seen = &call->features;
    if (!look_at_tensor(features, seen) || seen->ndim != 3) {
        PyErr_SetString(PyExc_TypeError, "expected features [n, heads, k] with memory of their own");
        return 0;
    }
    Shape* s = &call->shape;
    *s = (Shape){context_of_graph(graph),   seen->shape[0],
                 (int32_t)seen->shape[1],   (int32_t)seen->shape[2],
                 element_type(seen->dtype), NULL};
    if (!s->context && !PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "the graph's context was closed");
    return s->context && find_stream(seen->device, graph, &s->stream);
}

static void close_call(ScoreCall* call) {
    for (int i = 0; i < kGradArrays; ++i) Py_XDECREF(call->held[i]);
}

// The i-th array is this tensor of as many elements. What a hook gave back for a tensor that was saved may stand otherwise:
// of what is read a copy will do.
static int take(ScoreCall* call, int i, PyObject* tensor, int64_t elements, int written) {
    DlTensor seen;
    int done = look_at_tensor(tensor, &seen) && !(written && !is_contiguous(&seen));
    if (done && !is_contiguous(&seen)) {
        call->held[i] = PyObject_CallMethod(tensor, "contiguous", NULL);
        if (!call->held[i]) return 0;
        done = look_at_tensor(call->held[i], &seen) && is_contiguous(&seen);
    }
    if (!done || elements_of(&seen) != elements || memcmp(&seen.dtype, &call->features.dtype, sizeof seen.dtype) != 0 ||
        memcmp(&seen.device, &call->features.device, sizeof seen.device) != 0) {
        PyErr_SetString(PyExc_TypeError,
                        "expected tensors of one type that fit the features; one that was saved for a gradient may "
                        "have come back as another");
        return 0;
    }
    call->arrays[i] = memory_of(&seen);
    return 1;
}

int scores_of(PyObject* graph, PyObject* features, PyObject* att_row, PyObject* att_col, PyObject** row,
              PyObject** col) {
    ScoreCall call;
    int done = open_call(graph, features, &call);
    if (done) {
        const int64_t heads = call.shape.heads, k = call.shape.k, shape[2] = {call.shape.n, heads};
        done = take(&call, 0, features, call.shape.n * heads * k, 0) && take(&call, 1, att_row, heads * k, 0) &&
               take(&call, 2, att_col, heads * k, 0) && allocate_shape(features, shape, 2, row, &call.arrays[3]) &&
               allocate_shape(features, shape, 2, col, &call.arrays[4]) && run_scores(&call.shape, call.arrays);
    }
    close_call(&call);
    return done;
}

static int run_with_workspace(ScoreCall* call, PyObject* features) {
    enum { kAlignment = 256 };
    const Shape* s = &call->shape;
    const size_t bytes = gnntune_head_scores_workspace_bytes(s->n, s->heads, s->k);
    const int64_t elements = (int64_t)(bytes + kAlignment) * 8 / call->features.dtype.bits;
    PyObject* scratch = NULL;
    void* address = NULL;
    int done = allocate_shape(features, &elements, 1, &scratch, &address);
    if (done) {
        void* aligned = (void*)(((uintptr_t)address + kAlignment - 1) / kAlignment * kAlignment);
        done = run_gradients(s, call->arrays, aligned, bytes);
    }
    Py_XDECREF(scratch);
    return done;
}

int gradients_of_scores(PyObject* graph, PyObject* features, PyObject* att_row, PyObject* att_col, PyObject* grad_row,
                        PyObject* grad_col, PyObject* grad_features, PyObject** grad_att_row, PyObject** grad_att_col) {
    ScoreCall call;
    int done = open_call(graph, features, &call);
    if (done) {
        const int64_t n = call.shape.n, heads = call.shape.heads, k = call.shape.k, shape[3] = {1, heads, k};
        done = take(&call, 0, features, n * heads * k, 0) && take(&call, 1, att_row, heads * k, 0) &&
               take(&call, 2, att_col, heads * k, 0) && take(&call, 3, grad_row, n * heads, 0) &&
               take(&call, 4, grad_col, n * heads, 0) &&
               (!grad_features || take(&call, 5, grad_features, n * heads * k, 1)) &&
               (!grad_att_row || allocate_shape(features, shape, 3, grad_att_row, &call.arrays[6])) &&
               (!grad_att_col || allocate_shape(features, shape, 3, grad_att_col, &call.arrays[7])) &&
               run_with_workspace(&call, features);
    }
    close_call(&call);
    return done;
}
