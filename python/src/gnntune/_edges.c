// gnntune_edge_list of a plain edge_index: what describing a mini-batch begins with.
#include "_shim.h"
#include "_tensors.h"

#include <gnntune/gnntune.h>

// Whether it is [2, m] of ids, on a device, whose rows may be apart.
static int is_edge_index(const DlTensor* t) {
    if (t->dtype.code != kDlInt || t->dtype.lanes != 1 || (t->dtype.bits != 32 && t->dtype.bits != 64)) return 0;
    if (t->ndim != 2 || t->shape[0] != 2 || (!t->data && t->shape[1] > 0)) return 0;
    return !t->strides || t->strides[1] == 1 || t->shape[1] <= 1;
}

// edge_list(context, edge_index, loops) -> (edges, has_loops): a tensor [2, m + loops] of int32, the edges and behind them
// self loops of the first vertices, and whether one of the m edges is a self loop. Waits for the current stream. None where
// Python has to do it.
PyObject* edge_list(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count != 3) return PyErr_Format(PyExc_TypeError, "expected edge_list(context, edge_index, loops)");
    void* context = PyLong_AsVoidPtr(args[0]);
    const int64_t loops = PyErr_Occurred() ? 0 : PyLong_AsLongLong(args[2]);
    if (PyErr_Occurred()) return NULL;
    DlTensor seen;
    if (!tensors_are_seen() || !look_at_tensor(args[1], &seen) || !is_edge_index(&seen)) Py_RETURN_NONE;
    const int on = modes_are_on();
    if (on < 0) return NULL;
    const int64_t m = seen.shape[1];
    if (loops < 0 || loops > INT32_MAX - m) {  // the library has the words
        return raise_status(gnntune_edge_list(context, m, GNNTUNE_INT32, NULL, NULL, loops, NULL, NULL, NULL));
    }
    const int64_t shape[2] = {2, m + loops};
    PyObject* edges;
    void *address, *stream;
    if (on || !allocate_ids(seen.device, shape, 2, &edges, &address)) Py_RETURN_NONE;
    if (!current_stream(seen.device, &stream)) {
        Py_DECREF(edges);
        return NULL;
    }
    const char* sources = memory_of(&seen);
    const char* targets = sources + (seen.strides ? seen.strides[0] : m) * (seen.dtype.bits / 8);
    int32_t has_loops = 0;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_edge_list(context, m, seen.dtype.bits == 64 ? GNNTUNE_INT64 : GNNTUNE_INT32,
                                                      sources, targets, loops, address, &has_loops, stream);
    Py_END_ALLOW_THREADS if (status != GNNTUNE_OK) {
        Py_DECREF(edges);
        return raise_status(status);
    }
    PyObject* result = PyTuple_Pack(2, edges, has_loops ? Py_True : Py_False);
    Py_DECREF(edges);
    return result;
}
