// A whole operation of gnntune.torch in one call: checks tensors against those that a call was prepared for, has torch
// allocate the results and runs. It looks at tensors through DLPack's C exchange interface, which torch has from 2.10 on;
// with an older torch, and for whatever does not match, Python does the same step by step, a few times slower.
//
// Results are torch.empty's, not those of DLPack's allocator: their storage would not be torch's own, and record_stream()
// on it is without effect.
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
static PyObject* empty;  // torch.empty
static PyObject* requires_grad_name;
static PyObject* note_stream_name;

int intern_tensor_names(void) {
    requires_grad_name = PyUnicode_InternFromString("requires_grad");
    note_stream_name = PyUnicode_InternFromString("note_stream");
    return requires_grad_name && note_stream_name;
}

// set_tensor_types(Tensor, Parameter, empty, capsule) -> bool: whether run_tensors() can be used. Once, when torch is there.
PyObject* set_tensor_types(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *tensor, *parameter, *make, *capsule;
    if (!PyArg_ParseTuple(args, "OOOO", &tensor, &parameter, &make, &capsule)) return NULL;
    const char* name = "dlpack_exchange_api";
    if (!PyCapsule_IsValid(capsule, name)) Py_RETURN_FALSE;
    const DlExchange* found = PyCapsule_GetPointer(capsule, name);
    if (found->version.major != 1 || !found->look) Py_RETURN_FALSE;
    Py_INCREF(tensor);
    Py_INCREF(parameter);
    Py_INCREF(make);
    empty = make;
    tensor_type = tensor;
    parameter_type = parameter;
    exchange = found;
    Py_RETURN_TRUE;
}

// any_requires_grad(*tensors) -> bool, None being no tensor.
PyObject* any_requires_grad(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (args[i] == Py_None) continue;
        PyObject* wants = PyObject_GetAttr(args[i], requires_grad_name);
        if (!wants) return NULL;
        Py_DECREF(wants);
        if (wants == Py_True) Py_RETURN_TRUE;
    }
    Py_RETURN_FALSE;
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

// The address of a new tensor, which goes to *out; `form` is (arguments, keywords) of torch.empty.
static int allocate(PyObject* form, PyObject** out, void** address) {
    *out = PyObject_Call(empty, PyTuple_GetItem(form, 0), PyTuple_GetItem(form, 1));
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

// `entry` is (bytes of tensor_call(), forms of the results, form of the workspace or None).
static PyObject* matched(PyObject* entry, void** arrays, int32_t used, PyObject* graph) {
    const TensorCall* head = (const TensorCall*)PyBytes_AsString(PyTuple_GetItem(entry, 0));
    const Call* call = (const Call*)(head + 1);
    PyObject* forms = PyTuple_GetItem(entry, 1);
    PyObject* workspace_form = PyTuple_GetItem(entry, 2);
    void* stream;
    if (!find_stream(head->device, graph, &stream)) return NULL;
    const Py_ssize_t outputs = PyTuple_Size(forms);
    PyObject* workspace = NULL;
    PyObject* results = PyTuple_New(outputs);
    if (!results) return NULL;
    int done = 1;
    for (Py_ssize_t i = 0; done && i < outputs; ++i) {
        PyObject* result = NULL;
        done = allocate(PyTuple_GetItem(forms, i), &result, &arrays[used++]);
        PyTuple_SetItem(results, i, result);  // NULL is none yet
    }
    void* address = NULL;
    if (done && workspace_form != Py_None) {
        done = allocate(workspace_form, &workspace, &address);
        address = (void*)(((uintptr_t)address + 255) / 256 * 256);
    }
    done = done && run_call(call, arrays, address, stream);
    Py_XDECREF(workspace);
    if (done) return results;
    Py_DECREF(results);
    return NULL;
}

// run_tensors(calls, graph, *inputs) -> a tuple of results, or None where none of the calls (a list of entries as in
// matched()) is of inputs like these, or one of them is no plain tensor, not contiguous, or not aligned to 16 bytes.
PyObject* run_tensors(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    const Py_ssize_t inputs = count - 2;
    if (inputs < 0 || inputs > kMostTensors || !PyList_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "expected run_tensors(calls, graph, *inputs)");
        return NULL;
    }
    DlTensor seen[kMostTensors];
    void* arrays[kMostArrays];
    int32_t used = 0;
    for (Py_ssize_t i = 0; i < inputs; ++i) {
        PyObject* input = args[2 + i];
        seen[i].ndim = -1;
        if (input == Py_None) continue;
        PyObject* type = (PyObject*)Py_TYPE(input);
        if (!exchange || (type != tensor_type && type != parameter_type)) Py_RETURN_NONE;
        if (exchange->look(input, &seen[i]) != 0) {
            PyErr_Clear();  // a sparse tensor, say: Python has the words
            Py_RETURN_NONE;
        }
        arrays[used] = (char*)seen[i].data + seen[i].byte_offset;
        if ((uintptr_t)arrays[used] % 16 != 0) Py_RETURN_NONE;
        ++used;
    }
    const Py_ssize_t calls = PyList_Size(args[0]);
    for (Py_ssize_t c = 0; c < calls; ++c) {
        PyObject* entry = PyList_GetItem(args[0], c);
        const TensorCall* call = (const TensorCall*)PyBytes_AsString(PyTuple_GetItem(entry, 0));
        if (!call) return NULL;
        int same = call->inputs == inputs;
        for (Py_ssize_t i = 0; same && i < inputs; ++i) {
            const Form* form = &call->input[i];
            same = form->ndim < 0 || seen[i].ndim < 0 ? form->ndim == seen[i].ndim : has_form(&seen[i], form);
        }
        if (!same) continue;
        Py_INCREF(entry);  // another thread may clear the list meanwhile
        PyObject* results = matched(entry, arrays, used, args[1]);
        Py_DECREF(entry);
        return results;
    }
    Py_RETURN_NONE;
}
