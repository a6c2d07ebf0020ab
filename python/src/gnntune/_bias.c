// gnntune_bias_add and gnntune_bias_grad of plain tensors, for _layers.c.
#include "_bias.h"

#include <gnntune/gnntune.h>
#include <string.h>

#include "_products.h"
#include "_scores.h"

typedef struct {
    void* context;
    int64_t n;
    int32_t k, dtype;
    void* stream;
} Rows;

static void* memory_of(const DlTensor* t) {
    return (char*)t->data + t->byte_offset;
}

// How the library takes what lies there one element after another, as rows of k. 0 where torch has to do it, -1 with an
// exception.
static int open_rows(PyObject* graph, const DlTensor* seen, int64_t k, Rows* rows) {
    const int is_float = seen->dtype.code == kDlFloat || seen->dtype.code == kDlBfloat;
    const int here =
        seen->device.device_type == kDlCuda ? seen->dtype.bits == 32 || seen->dtype.bits == 16 : seen->dtype.bits == 32;
    int64_t elements = 1;
    for (int32_t d = 0; d < seen->ndim; ++d) elements *= seen->shape[d];
    if (!is_float || !here || seen->dtype.lanes != 1 || !is_contiguous(seen)) return 0;
    if (k < 1 || k > INT32_MAX || elements / k > INT32_MAX) return 0;
    const int there = context_is_there(graph, seen);
    if (there <= 0) return there;
    *rows = (Rows){context_of_graph(graph), elements / k, (int32_t)k, element_type(seen->dtype), NULL};
    return find_stream(seen->device, graph, &rows->stream) ? 1 : -1;
}

// Whether it is as many elements as that, of the type and on the device of another.
static int is_like(const DlTensor* t, const DlTensor* other, int64_t elements) {
    int64_t size = 1;
    for (int32_t d = 0; d < t->ndim; ++d) size *= t->shape[d];
    return size == elements && is_contiguous(t) && memcmp(&t->dtype, &other->dtype, sizeof t->dtype) == 0 &&
           memcmp(&t->device, &other->device, sizeof t->device) == 0;
}

static int ended(gnntune_status status) {
    if (status == GNNTUNE_OK) return 1;
    raise_status(status);
    return -1;
}

// y = x + bias, with the bias `k` elements. 0 where torch has to do it, -1 with an exception.
static int add_rows(PyObject* graph, PyObject* x, PyObject* bias, int64_t k, void* y) {
    DlTensor seen, row;
    Rows rows;
    if (!look_at_tensor(x, &seen) || !look_at_tensor(bias, &row) || !is_like(&row, &seen, k)) return 0;
    const int open = open_rows(graph, &seen, k, &rows);
    if (open <= 0) return open;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_bias_add(rows.context, rows.n, rows.k, rows.dtype, memory_of(&seen),
                                                     memory_of(&row), y ? y : memory_of(&seen), rows.stream);
    Py_END_ALLOW_THREADS return ended(status);
}

PyObject* with_bias(PyObject* graph, PyObject* x, PyObject* bias) {
    DlTensor seen;
    if (look_at_tensor(x, &seen) && seen.ndim == 2) {
        PyObject* sum;
        void* y;
        if (!allocate_shape(x, seen.shape, 2, &sum, &y)) {
            Py_XDECREF(sum);
            return NULL;
        }
        const int done = add_rows(graph, x, bias, seen.shape[1], y);
        if (done > 0) return sum;
        Py_DECREF(sum);
        if (done < 0) return NULL;
    }
    return sum_of(x, bias);
}

int add_bias(PyObject* graph, PyObject* x, PyObject* bias) {
    DlTensor seen;
    const int done = look_at_tensor(x, &seen) && seen.ndim == 2 ? add_rows(graph, x, bias, seen.shape[1], NULL) : 0;
    return done != 0 ? done > 0 : add_to(x, bias);
}

int add_tensor(PyObject* graph, PyObject* sum, PyObject* a) {
    DlTensor seen;
    int64_t elements = 1;
    const int looked = look_at_tensor(sum, &seen);
    for (int32_t d = 0; looked && d < seen.ndim; ++d) elements *= seen.shape[d];
    const int done = looked ? add_rows(graph, sum, a, elements, NULL) : 0;  // as one row
    return done != 0 ? done > 0 : add_to(sum, a);
}

PyObject* bias_gradient(PyObject* graph, PyObject* grad) {
    enum { kAlignment = 256 };
    DlTensor seen;
    Rows rows;
    const int looked = look_at_tensor(grad, &seen) && seen.ndim == 2;
    const int open = looked ? open_rows(graph, &seen, seen.shape[1], &rows) : 0;
    if (open < 0) return NULL;
    if (!open) return sum_of_rows(grad);
    PyObject *sum = NULL, *scratch = NULL;
    void *address, *memory = NULL;
    const size_t bytes = gnntune_bias_grad_workspace_bytes(rows.n, rows.k);
    const int64_t width = rows.k, elements = (int64_t)(bytes + kAlignment) * 8 / seen.dtype.bits;
    int done = allocate_shape(grad, &width, 1, &sum, &address);
    if (done && bytes > 0) {
        done = allocate_shape(grad, &elements, 1, &scratch, &memory);
        memory = (void*)(((uintptr_t)memory + kAlignment - 1) / kAlignment * kAlignment);
    }
    if (done) {
        gnntune_status status;
        Py_BEGIN_ALLOW_THREADS status = gnntune_bias_grad(rows.context, rows.n, rows.k, rows.dtype, memory_of(&seen),
                                                          address, memory, bytes, rows.stream);
        Py_END_ALLOW_THREADS done = ended(status) > 0;
    }
    Py_XDECREF(scratch);
    if (!done) Py_CLEAR(sum);
    return sum;
}
