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

// Whether elements lie one after another, each where one of its size may. A tensor that torch knows to be zero has none.
static int lies_well(const DlTensor* t) {
    const unsigned bytes = t->dtype.bits < 8 ? 1 : t->dtype.bits / 8;
    return (t->data || elements_of(t) == 0) && is_contiguous(t) && (uintptr_t)memory_of(t) % bytes == 0;
}

// How the library takes what lies there one element after another, as rows of k. 0 where torch has to do it, -1 with an
// exception.
static int open_rows(PyObject* graph, const DlTensor* seen, int64_t k, Rows* rows) {
    const int is_float = seen->dtype.code == kDlFloat || seen->dtype.code == kDlBfloat;
    if (!is_float || seen->dtype.lanes != 1 || (seen->dtype.bits != 32 && seen->dtype.bits != 16)) return 0;
    const int64_t elements = elements_of(seen);
    if (!lies_well(seen) || k < 1 || k > INT32_MAX || elements / k > INT32_MAX) return 0;
    if (seen->device.device_type != kDlCuda && seen->dtype.bits != 32) return 0;
    const int there = context_is_there(graph, seen);
    if (there <= 0) return there;
    *rows = (Rows){context_of_graph(graph), elements / k, (int32_t)k, element_type(seen->dtype), NULL};
    return find_stream(seen->device, graph, &rows->stream) ? 1 : -1;
}

// Whether it is as many elements as that, of the type and on the device of another.
static int is_like(const DlTensor* t, const DlTensor* other, int64_t elements) {
    return elements_of(t) == elements && lies_well(t) && memcmp(&t->dtype, &other->dtype, sizeof t->dtype) == 0 &&
           memcmp(&t->device, &other->device, sizeof t->device) == 0;
}

static int ended(gnntune_status status) {
    if (status == GNNTUNE_OK) return 1;
    raise_status(status);
    return 0;
}

// How x and a bias of `k` elements are added. 0 where torch has to do it, -1 with an exception.
static int open_sum(PyObject* graph, PyObject* x, PyObject* bias, int64_t k, DlTensor* seen, DlTensor* row,
                    Rows* rows) {
    if (!look_at_tensor(x, seen) || !look_at_tensor(bias, row) || !is_like(row, seen, k)) return 0;
    return open_rows(graph, seen, k, rows);
}

// y = x + bias: 0 and an exception if that fails.
static int add_rows(const Rows* rows, const DlTensor* x, const DlTensor* bias, void* y) {
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status =
        gnntune_bias_add(rows->context, rows->n, rows->k, rows->dtype, memory_of(x), memory_of(bias), y, rows->stream);
    Py_END_ALLOW_THREADS return ended(status);
}

// The width of a matrix; 0 for what is none.
static int64_t width_of(PyObject* tensor) {
    DlTensor seen;
    return look_at_tensor(tensor, &seen) && seen.ndim == 2 ? seen.shape[1] : 0;
}

PyObject* with_bias(PyObject* graph, PyObject* x, PyObject* bias) {
    DlTensor seen, row;
    Rows rows;
    const int open = open_sum(graph, x, bias, width_of(x), &seen, &row, &rows);
    if (open < 0) return NULL;
    if (!open) return sum_of(x, bias);
    PyObject* sum;
    void* y;
    if (!allocate_shape(x, seen.shape, 2, &sum, &y) || !add_rows(&rows, &seen, &row, y)) Py_CLEAR(sum);
    return sum;
}

static int add_in_place(PyObject* graph, PyObject* x, PyObject* bias, int64_t k) {
    DlTensor seen, row;
    Rows rows;
    const int open = open_sum(graph, x, bias, k, &seen, &row, &rows);
    if (open < 0) return 0;
    return open ? add_rows(&rows, &seen, &row, memory_of(&seen)) : add_to(x, bias);
}

int add_bias(PyObject* graph, PyObject* x, PyObject* bias) {
    return add_in_place(graph, x, bias, width_of(x));
}

int add_tensor(PyObject* graph, PyObject* sum, PyObject* a) {
    DlTensor seen;
    if (!look_at_tensor(sum, &seen)) return add_to(sum, a);
    // As one row: by one thread on a CPU, and on a GPU element by element where it is no whole number of vectors.
    enum { kFew = 1 << 14, kVectorBits = 128 };
    const int64_t elements = elements_of(&seen);
    const int whole = seen.device.device_type == kDlCuda && elements * seen.dtype.bits % kVectorBits == 0;
    return whole || elements <= kFew ? add_in_place(graph, sum, a, elements) : add_to(sum, a);
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
        Py_END_ALLOW_THREADS done = ended(status);
    }
    Py_XDECREF(scratch);
    if (!done) Py_CLEAR(sum);
    return sum;
}
