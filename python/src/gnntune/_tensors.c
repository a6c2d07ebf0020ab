// A whole operation of gnntune.torch in one call: checks tensors against those that a call was prepared for, has torch
// allocate the results and runs. It looks at tensors through DLPack's C exchange interface, which torch has from 2.10 on;
// with an older torch, and for whatever does not match, Python does the same step by step, a few times slower.
//
// Results are torch's own, not those of DLPack's allocator: record_stream() on the latter's storage is without effect.
// torch.empty_like() takes a third of the time of torch.empty(), which has a type and a device to read.
#include "_native.h"

#include <string.h>

// ---- DLPack 1.3, as far as it is used: dlpack.h of the framework has the words ----

typedef struct {
    int32_t device_type;
    int32_t device_id;
} DlDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DlType;

typedef struct {
    void* data;
    DlDevice device;
    int32_t ndim;
    DlType dtype;
    int64_t* shape;
    int64_t* strides;  // in elements; NULL: contiguous
    uint64_t byte_offset;
} DlTensor;

// The functions that are not called are declared by their place alone.
typedef struct {
    struct {
        uint32_t major, minor;
    } version;
    void* previous;
    void (*allocate)(void);
    void (*from_object)(void);
    void (*to_object)(void);
    int (*look)(void* object, DlTensor* out);  // borrows
    int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
} DlExchange;

enum { kDlCpu = 1, kDlCuda = 2 };

// ---- What was prepared ----

enum { kMostDims = 4, kMostTensors = 8 };

// A tensor that is contiguous, and whose shape, type and device are these.
typedef struct {
    int64_t shape[kMostDims];
    DlDevice device;
    DlType dtype;
    int32_t ndim;  // -1: None
} Form;

// The content of a bytes object; the Call that prepare() made stands behind it.
typedef struct {
    DlDevice device;
    int32_t inputs;
    int32_t reserved;
    Form input[kMostTensors];
} TensorCall;

static const DlExchange* exchange;
static PyObject* tensor_type;
static PyObject* parameter_type;
// What torch is asked: torch.empty_like, whether a dispatch mode, autocast, gradients, deterministic algorithms are on.
static PyObject *empty_like, *modes, *autocast, *grad_enabled, *deterministic;
static PyObject *requires_grad_name, *note_stream_name, *fast_name;

int intern_tensor_names(void) {
    requires_grad_name = PyUnicode_InternFromString("requires_grad");
    note_stream_name = PyUnicode_InternFromString("note_stream");
    fast_name = PyUnicode_InternFromString("_fast");
    return requires_grad_name && note_stream_name && fast_name;
}

// set_torch(Tensor, Parameter, empty_like, modes, autocast, grad_enabled, deterministic, capsule) -> bool: whether
// run_tensors() can be used. Once, when torch is there. The functions take nothing and return a bool or a number.
PyObject* set_torch(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *given[7], *capsule;
    if (!PyArg_ParseTuple(args, "OOOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &given[6],
                          &capsule)) {
        return NULL;
    }
    const char* name = "dlpack_exchange_api";
    if (!PyCapsule_IsValid(capsule, name)) Py_RETURN_FALSE;
    const DlExchange* found = PyCapsule_GetPointer(capsule, name);
    if (found->version.major != 1 || !found->look) Py_RETURN_FALSE;
    PyObject** kept[7] = {&tensor_type, &parameter_type, &empty_like, &modes, &autocast, &grad_enabled, &deterministic};
    for (int i = 0; i < 7; ++i) {
        Py_INCREF(given[i]);
        *kept[i] = given[i];
    }
    exchange = found;
    Py_RETURN_TRUE;
}

// ((shape), (device_type, device_id), (code, bits)), or None.
static int read_form(PyObject* object, Form* form) {
    memset(form, 0, sizeof *form);
    form->ndim = -1;
    if (object == Py_None) return 1;
    PyObject* shape;
    int code, bits;
    if (!PyArg_ParseTuple(object, "O!(ii)(ii)", &PyTuple_Type, &shape, &form->device.device_type,
                          &form->device.device_id, &code, &bits)) {
        return 0;
    }
    form->dtype = (DlType){(uint8_t)code, (uint8_t)bits, 1};
    const Py_ssize_t ndim = PyTuple_Size(shape);
    if (ndim > kMostDims) {
        PyErr_SetString(PyExc_ValueError, "more dimensions than run_tensors() knows");
        return 0;
    }
    for (Py_ssize_t d = 0; d < ndim; ++d) form->shape[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
    form->ndim = (int32_t)ndim;
    return !PyErr_Occurred();
}

// tensor_call(call, (device_type, device_id), inputs) -> bytes, for run_tensors().
PyObject* tensor_call(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *call, *inputs;
    TensorCall made;
    memset(&made, 0, sizeof made);
    if (!PyArg_ParseTuple(args, "O(ii)O!", &call, &made.device.device_type, &made.device.device_id, &PyTuple_Type,
                          &inputs)) {
        return NULL;
    }
    if (!call_of(call)) return NULL;
    made.inputs = (int32_t)PyTuple_Size(inputs);
    if (made.inputs > kMostTensors) {
        PyErr_SetString(PyExc_ValueError, "more tensors than run_tensors() knows");
        return NULL;
    }
    for (int32_t i = 0; i < made.inputs; ++i) {
        if (!read_form(PyTuple_GetItem(inputs, i), &made.input[i])) return NULL;
    }
    PyObject* head = PyBytes_FromStringAndSize((const char*)&made, sizeof made);
    if (!head) return NULL;
    PyBytes_Concat(&head, call);
    return head;
}

// ---- Running ----

static int has_form(const DlTensor* t, const Form* form) {
    if (t->ndim != form->ndim || t->device.device_type != form->device.device_type ||
        t->device.device_id != form->device.device_id || memcmp(&t->dtype, &form->dtype, sizeof t->dtype) != 0) {
        return 0;
    }
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; d >= 0; --d) {
        if (t->shape[d] != form->shape[d]) return 0;
        if (t->strides && t->strides[d] != stride && t->shape[d] > 1) return 0;
        stride *= t->shape[d];
    }
    return 1;
}

// The address of a new tensor, which goes to *out.
static int allocate(PyObject* like, PyObject** out, void** address) {
    *out = PyObject_CallFunctionObjArgs(empty_like, like, NULL);
    DlTensor seen;
    if (!*out || exchange->look(*out, &seen) != 0) return 0;
    *address = (char*)seen.data + seen.byte_offset;
    return 1;
}

// 0 is the default stream, which cannot be captured and on which memory comes and goes in order.
static int find_stream(DlDevice device, PyObject* graph, void** stream) {
    *stream = NULL;
    if (device.device_type != kDlCuda) return 1;
    if (exchange->current_stream(kDlCuda, device.device_id, stream) != 0) return 0;
    if (!*stream) return 1;
    PyObject* number = PyLong_FromVoidPtr(*stream);
    PyObject* noted = number ? PyObject_CallMethodObjArgs(graph, note_stream_name, number, NULL) : NULL;
    Py_XDECREF(number);
    Py_XDECREF(noted);
    return noted != NULL;
}

// `entry` is (bytes of tensor_call(), tensors like the results, a tensor like the workspace or None).
static PyObject* matched(PyObject* entry, void** arrays, int32_t used, PyObject* graph) {
    const TensorCall* head = (const TensorCall*)PyBytes_AsString(PyTuple_GetItem(entry, 0));
    const Call* call = (const Call*)(head + 1);
    PyObject* like = PyTuple_GetItem(entry, 1);
    PyObject* like_workspace = PyTuple_GetItem(entry, 2);
    void* stream;
    if (!find_stream(head->device, graph, &stream)) return NULL;
    const Py_ssize_t outputs = PyTuple_Size(like);
    PyObject* workspace = NULL;
    PyObject* results = PyTuple_New(outputs);
    if (!results) return NULL;
    int done = 1;
    for (Py_ssize_t i = 0; done && i < outputs; ++i) {
        PyObject* result = NULL;
        done = allocate(PyTuple_GetItem(like, i), &result, &arrays[used++]);
        PyTuple_SetItem(results, i, result);  // NULL is none yet
    }
    void* address = NULL;
    if (done && like_workspace != Py_None) {
        done = allocate(like_workspace, &workspace, &address);
        address = (void*)(((uintptr_t)address + 255) / 256 * 256);
    }
    done = done && run_call(call, arrays, address, stream);
    Py_XDECREF(workspace);
    if (done) return results;
    Py_DECREF(results);
    return NULL;
}

// The calls that the graph remembers for an operation and its numbers; NULL, perhaps with an exception, if there are none.
static PyObject* remembered(PyObject* graph, PyObject* op, PyObject* numbers) {
    PyObject* known = PyObject_GetAttr(graph, fast_name);
    PyObject* strict = known ? PyObject_CallObject(deterministic, NULL) : NULL;
    PyObject* number = strict ? PyLong_FromVoidPtr(numbers) : NULL;
    PyObject* key = number ? PyTuple_Pack(3, op, number, strict) : NULL;
    PyObject* calls = key ? PyDict_GetItemWithError(known, key) : NULL;  // (numbers, list)
    if (calls) {
        calls = PyTuple_GetItem(calls, 1);
        Py_XINCREF(calls);
    }
    Py_XDECREF(key);
    Py_XDECREF(number);
    Py_XDECREF(strict);
    Py_XDECREF(known);
    return calls;
}

// The addresses of tensors, and what they are. 0 where one of them is no plain tensor, or not aligned to 16 bytes.
static int look_at(PyObject* const* inputs, Py_ssize_t count, DlTensor* seen, void** arrays, int32_t* used) {
    if (count > kMostTensors) return 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        seen[i].ndim = -1;
        if (inputs[i] == Py_None) continue;
        PyObject* type = (PyObject*)Py_TYPE(inputs[i]);
        if (type != tensor_type && type != parameter_type) return 0;
        if (exchange->look(inputs[i], &seen[i]) != 0) {
            PyErr_Clear();  // a sparse tensor, say: Python has the words
            return 0;
        }
        void* address = (char*)seen[i].data + seen[i].byte_offset;
        if ((uintptr_t)address % 16 != 0) return 0;
        arrays[(*used)++] = address;
    }
    return 1;
}

// A new reference to the entry that was prepared for inputs like these, and their addresses; NULL, perhaps with an
// exception, where there is none.
static PyObject* find(PyObject* graph, PyObject* op, PyObject* numbers, PyObject* const* inputs, Py_ssize_t count,
                      void** arrays, int32_t* used) {
    DlTensor seen[kMostTensors];
    if (!look_at(inputs, count, seen, arrays, used)) return NULL;
    PyObject* calls = remembered(graph, op, numbers);
    if (!calls) return NULL;
    PyObject* found = NULL;
    const Py_ssize_t size = PyList_Size(calls);
    for (Py_ssize_t c = 0; !found && c < size; ++c) {
        PyObject* entry = PyList_GetItem(calls, c);
        const TensorCall* call = entry ? (const TensorCall*)PyBytes_AsString(PyTuple_GetItem(entry, 0)) : NULL;
        if (!call) break;
        int same = call->inputs == count;
        for (Py_ssize_t i = 0; same && i < count; ++i) {
            const Form* form = &call->input[i];
            same = form->ndim < 0 || seen[i].ndim < 0 ? form->ndim == seen[i].ndim : has_form(&seen[i], form);
        }
        if (same) found = entry;
    }
    Py_XINCREF(found);  // another thread may clear the list
    Py_DECREF(calls);
    return found;
}

// run_tensors(graph, op, numbers, *inputs) -> a tuple of results, or None where Python has to do it.
PyObject* run_tensors(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count < 3) {
        PyErr_SetString(PyExc_TypeError, "expected run_tensors(graph, op, numbers, *inputs)");
        return NULL;
    }
    if (!exchange) Py_RETURN_NONE;
    void* arrays[kMostArrays];
    int32_t used = 0;
    PyObject* entry = find(args[0], args[1], args[2], args + 3, count - 3, arrays, &used);
    if (!entry) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    PyObject* results = matched(entry, arrays, used, args[0]);
    Py_DECREF(entry);
    return results;
}

static int is_on(PyObject* function) {
    PyObject* answer = PyObject_CallObject(function, NULL);
    if (!answer) return -1;
    const int on = answer != Py_False && PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return on;
}

// Whether one of them wants a gradient; -1, and no exception, if one is no tensor.
static int wants_gradient(PyObject* const* tensors, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (tensors[i] == Py_None) continue;
        PyObject* wants = PyObject_GetAttr(tensors[i], requires_grad_name);
        if (!wants) {
            PyErr_Clear();
            return -1;
        }
        Py_DECREF(wants);
        if (wants == Py_True) return 1;
    }
    return 0;
}

// apply(graph, op, numbers, bare, *inputs) -> the first result of a run that no gradient follows, with the numbers `bare`;
// True where one does, and nothing but the run with `numbers` is to be done beside it; None where Python has to look:
// types are cast, a mode looks on, or no call is prepared for tensors like these.
PyObject* apply(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (!exchange || count < 5) Py_RETURN_NONE;
    const int looked_at = is_on(modes);
    const int cast = looked_at == 0 ? is_on(autocast) : looked_at;
    int grads = cast == 0 ? is_on(grad_enabled) : cast;
    if (looked_at < 0 || cast < 0 || grads < 0) return NULL;
    if (looked_at || cast) Py_RETURN_NONE;
    if (grads) grads = wants_gradient(args + 4, count - 4);
    if (grads < 0) Py_RETURN_NONE;
    void* arrays[kMostArrays];
    int32_t used = 0;
    PyObject* entry = find(args[0], args[1], grads ? args[2] : args[3], args + 4, count - 4, arrays, &used);
    if (!entry) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    PyObject* results = NULL;
    if (!grads) results = matched(entry, arrays, used, args[0]);
    Py_DECREF(entry);
    if (grads) Py_RETURN_TRUE;
    if (!results) return NULL;
    PyObject* first = PyTuple_GetItem(results, 0);
    Py_XINCREF(first);
    Py_DECREF(results);
    return first;
}
