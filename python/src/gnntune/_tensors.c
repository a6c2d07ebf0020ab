// A whole operation of gnntune.torch in one call: checks tensors against those that a call was prepared for, has torch
// allocate the results and runs. It looks at tensors through DLPack's C exchange interface, which torch has from 2.10 on;
// with an older torch, and for whatever does not match, Python does the same step by step, a few times slower.
//
// Of a graph that lasts, calls are prepared and kept with it. Of a transient graph each call comes once: recipes say how
// calls of a kind are made, whatever the graph's sizes are.
//
// Results are torch's own, not those of DLPack's allocator: record_stream() on the latter's storage is without effect.
// _shim.c makes them; without it torch.empty_like() does, which takes a third of the time of torch.empty().
#include "_tensors.h"

#include "_shim.h"

#include <string.h>

// ---- DLPack's functions, as far as they are used ----

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

// ---- What was prepared ----

enum { kMostDims = 4, kMostResults = 4 };

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

// Not one of the leading sizes that a graph has.
enum { kNoSize = -1 };

// A result of a recipe: as an input is, or [a size of the graph or of its own, ...].
typedef struct {
    int32_t like;  // -1: none
    int32_t lead;  // of shape[0]
    int32_t ndim;
    int32_t reserved;
    int64_t shape[kMostDims];
} Result;

// The content of a bytes object; the Call that prepare() made for no plan stands behind it.
typedef struct {
    DlDevice device;
    int32_t inputs;
    int32_t results;
    Form input[kMostTensors];
    int32_t lead[kMostTensors];
    Result result[kMostResults];
} Recipe;

static const DlExchange* exchange;
static PyObject* tensor_type;
static PyObject* parameter_type;
// What torch is asked: torch.empty_like, whether a mode, autocast, gradients, deterministic algorithms, functorch are on.
// Modes are those of dispatch, torch.jit.trace and forward-mode differentiation.
static PyObject *empty_like, *modes, *autocast, *grad_enabled, *deterministic, *functorch;
static PyObject* recipes;        // Python's: by operation, numbers and determinism
static PyObject* forward_names;  // of torch.autograd.forward_ad
static PyObject *note_stream_name, *fast_name, *sizes_name, *planned_name, *value_name, *new_empty_name, *plans_name,
    *handle_name, *context_name, *describe_name, *level_name;

// ---- What is switched on in torch ----

// The answer of one of torch's functions.
static int is_on(PyObject* function) {
    PyObject* answer = PyObject_CallNoArgs(function);
    if (!answer) return -1;
    const int on = answer != Py_False && PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return on;
}

int gradients_are_on(void) {
    return shim_asks() ? shim_gradients() : is_on(grad_enabled);
}

int autocast_is_on(void) {
    return shim_asks() ? shim_autocast() : is_on(autocast);
}

// Whether a level of forward-mode differentiation is open, which torch knows in Python alone.
static int is_dual(void) {
    PyObject* level = PyDict_GetItemWithError(forward_names, level_name);
    if (!level) return PyErr_Occurred() ? -1 : 0;
    return PyLong_AsLong(level) >= 0;
}

int modes_are_on(void) {
    if (!shim_asks()) return is_on(modes);
    return shim_modes() ? 1 : is_dual();
}

int functorch_is_on(void) {
    return is_on(functorch);
}

int tensors_are_seen(void) {
    return exchange != NULL;
}

int is_contiguous(const DlTensor* tensor) {
    int64_t stride = 1;
    for (int32_t d = tensor->ndim - 1; d >= 0; --d) {
        if (tensor->strides && tensor->strides[d] != stride && tensor->shape[d] > 1) return 0;
        stride *= tensor->shape[d];
    }
    return 1;
}

int64_t elements_of(const DlTensor* tensor) {
    int64_t elements = 1;
    for (int32_t d = 0; d < tensor->ndim; ++d) elements *= tensor->shape[d];
    return elements;
}

void* memory_of(const DlTensor* tensor) {
    return (char*)tensor->data + tensor->byte_offset;
}

int is_plain_parameter(PyObject* object) {
    return (PyObject*)Py_TYPE(object) == parameter_type;
}

int look_at_tensor(PyObject* tensor, DlTensor* out) {
    PyObject* type = (PyObject*)Py_TYPE(tensor);
    if (!exchange || (type != tensor_type && type != parameter_type)) return 0;
    if (exchange->look(tensor, out) == 0) return 1;
    PyErr_Clear();  // a sparse tensor, say: Python has the words
    return 0;
}

static int is_deterministic(void) {
    return shim_asks() ? shim_deterministic() : is_on(deterministic);
}

// Whether torch's own functions say what Python's do: those of another version may be others.
static int agree(void) {
    return shim_gradients() == is_on(grad_enabled) && shim_autocast() == is_on(autocast) &&
           shim_deterministic() == is_on(deterministic) && shim_modes() == is_on(modes);
}

int intern_tensor_names(void) {
    const struct {
        PyObject** name;
        const char* text;
    } kNames[] = {
        {&note_stream_name, "note_stream"},
        {&fast_name, "_fast"},
        {&sizes_name, "_sizes"},
        {&planned_name, "planned"},
        {&value_name, "value"},
        {&new_empty_name, "new_empty"},
        {&plans_name, "_plans"},
        {&handle_name, "_handle"},
        {&context_name, "_context"},
        {&describe_name, "handle"},
        {&level_name, "_current_level"},
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (!(*kNames[i].name = PyUnicode_InternFromString(kNames[i].text))) return 0;
    }
    return 1;
}

// set_torch(Tensor, Parameter, empty_like, modes, autocast, grad_enabled, deterministic, functorch, recipes, names of
// torch.autograd.forward_ad, capsule) -> bool: whether run_tensors() can be used. Once, when torch is there. The functions from modes on take nothing and return
// a bool or a number.
PyObject* set_torch(PyObject* self, PyObject* args) {
    (void)self;
    enum { kGiven = 10 };
    PyObject *given[kGiven], *capsule;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOO!O", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                          &given[6], &given[7], &given[8], &PyDict_Type, &given[9], &capsule)) {
        return NULL;
    }
    PyObject** kept[kGiven] = {&tensor_type,  &parameter_type, &empty_like, &modes,   &autocast,
                               &grad_enabled, &deterministic,  &functorch,  &recipes, &forward_names};
    for (int i = 0; i < kGiven; ++i) {
        Py_INCREF(given[i]);
        *kept[i] = given[i];
    }
    // A backward asks some of them with an older torch too.
    const char* name = "dlpack_exchange_api";
    if (!PyCapsule_IsValid(capsule, name)) Py_RETURN_FALSE;
    const DlExchange* found = PyCapsule_GetPointer(capsule, name);
    if (found->version.major != 1 || !found->look) Py_RETURN_FALSE;
    exchange = found;
    shim_open(tensor_type);
    if (shim_asks() && !agree()) shim_ask_no_more();
    if (PyErr_Occurred()) return NULL;
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

// recipe(call, (device_type, device_id), inputs, leads, results) -> bytes, for entries of `recipes`. `leads`: which size
// of the graph each input's first dimension is, or -1; a result is (like, lead, shape).
PyObject* recipe(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *call, *inputs, *leads, *results;
    Recipe made;
    memset(&made, 0, sizeof made);
    if (!PyArg_ParseTuple(args, "O(ii)O!O!O!", &call, &made.device.device_type, &made.device.device_id, &PyTuple_Type,
                          &inputs, &PyTuple_Type, &leads, &PyTuple_Type, &results)) {
        return NULL;
    }
    if (!call_of(call)) return NULL;
    made.inputs = (int32_t)PyTuple_Size(inputs);
    made.results = (int32_t)PyTuple_Size(results);
    if (made.inputs > kMostTensors || made.results > kMostResults || PyTuple_Size(leads) != made.inputs) {
        PyErr_SetString(PyExc_ValueError, "more tensors than run_tensors() knows");
        return NULL;
    }
    for (int32_t i = 0; i < made.inputs; ++i) {
        if (!read_form(PyTuple_GetItem(inputs, i), &made.input[i])) return NULL;
        made.lead[i] = (int32_t)PyLong_AsLong(PyTuple_GetItem(leads, i));
    }
    for (int32_t r = 0; r < made.results; ++r) {
        PyObject* shape;
        Result* result = &made.result[r];
        if (!PyArg_ParseTuple(PyTuple_GetItem(results, r), "iiO!", &result->like, &result->lead, &PyTuple_Type, &shape))
            return NULL;
        result->ndim = (int32_t)PyTuple_Size(shape);
        if (result->ndim > kMostDims || result->like >= made.inputs || result->lead >= kSizes) {
            PyErr_SetString(PyExc_ValueError, "a result that run_tensors() does not know");
            return NULL;
        }
        for (int32_t d = 0; d < result->ndim; ++d) result->shape[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
    }
    PyObject* head = PyErr_Occurred() ? NULL : PyBytes_FromStringAndSize((const char*)&made, sizeof made);
    if (!head) return NULL;
    PyBytes_Concat(&head, call);
    return head;
}

// ---- Running ----

// `first` is the first dimension's size.
static int has_form(const DlTensor* t, const Form* form, int64_t first) {
    if (t->ndim != form->ndim || t->device.device_type != form->device.device_type ||
        t->device.device_id != form->device.device_id || memcmp(&t->dtype, &form->dtype, sizeof t->dtype) != 0) {
        return 0;
    }
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; d >= 0; --d) {
        if (t->shape[d] != (d == 0 ? first : form->shape[d])) return 0;
        if (t->strides && t->strides[d] != stride && t->shape[d] > 1) return 0;
        stride *= t->shape[d];
    }
    return 1;
}

// The address of a new tensor; 0 if it is NULL, which an exception explains.
static int address_of_new(PyObject* made, void** address) {
    DlTensor seen;
    if (!made || exchange->look(made, &seen) != 0) return 0;
    *address = memory_of(&seen);
    return 1;
}

// A new tensor of the type and on the device of another: a Python object. NULL where torch has to be asked by Python.
static PyObject* quickly_made(const DlTensor* kind, const int64_t* shape, int32_t ndim, void** address) {
    if (!shim_ready() || (kind->device.device_type != kDlCpu && kind->device.device_type != kDlCuda)) return NULL;
    void* tensor;
    if (!shim_allocate(kind->dtype.code, kind->dtype.bits, kind->device.device_type == kDlCuda, kind->device.device_id,
                       ndim, shape, &tensor, address)) {
        return NULL;
    }
    PyObject* made = shim_wrap(tensor);
    if (!made) PyErr_Clear();
    return made;
}

// A new tensor as `like` is, which goes to *out, and its address. 0 and an exception if torch has no memory, say.
static int allocate(PyObject* like, PyObject** out, void** address) {
    DlTensor seen;
    *out = NULL;
    if (exchange->look(like, &seen) != 0) return 0;
    *out = quickly_made(&seen, seen.shape, seen.ndim, address);
    if (*out) return 1;
    *out = PyObject_CallFunctionObjArgs(empty_like, like, NULL);
    return address_of_new(*out, address);
}

static PyObject* new_empty(PyObject* like, const int64_t* shape, int32_t ndim) {
    PyObject* sizes = PyTuple_New(ndim);
    if (!sizes) return NULL;
    for (int32_t d = 0; d < ndim; ++d) PyTuple_SetItem(sizes, d, PyLong_FromLongLong(shape[d]));
    PyObject* made = PyErr_Occurred() ? NULL : PyObject_CallMethodObjArgs(like, new_empty_name, sizes, NULL);
    Py_DECREF(sizes);
    return made;
}

int allocate_shape(PyObject* like, const int64_t* shape, int32_t ndim, PyObject** out, void** address) {
    DlTensor seen;
    *out = NULL;
    if (exchange->look(like, &seen) != 0) return 0;
    *out = quickly_made(&seen, shape, ndim, address);
    if (*out) return 1;
    *out = new_empty(like, shape, ndim);
    return address_of_new(*out, address);
}

// Memory of a run.
typedef struct {
    void* tensor;      // of the shim; NULL: none of its
    PyObject* object;  // of Python; NULL: none of its
    void* address;     // at a multiple of 256 bytes
} Scratch;

// `like` is a tensor of bytes on the device of the run; `bytes` has room to align it. 0 and an exception if torch fails.
static int take_scratch(PyObject* like, int64_t bytes, Scratch* out) {
    DlTensor seen;
    void* address = NULL;
    *out = (Scratch){NULL, NULL, NULL};
    if (exchange->look(like, &seen) != 0) return 0;
    if (!shim_ready() || !shim_allocate(seen.dtype.code, seen.dtype.bits, seen.device.device_type == kDlCuda,
                                        seen.device.device_id, 1, &bytes, &out->tensor, &address)) {
        out->tensor = NULL;
        out->object = new_empty(like, &bytes, 1);
        if (!address_of_new(out->object, &address)) return 0;
    }
    out->address = (void*)(((uintptr_t)address + 255) / 256 * 256);
    return 1;
}

static void drop_scratch(Scratch* scratch) {
    if (scratch->tensor) shim_free(scratch->tensor);
    Py_XDECREF(scratch->object);
}

int allocate_ids(DlDevice device, const int64_t* shape, int32_t ndim, PyObject** out, void** address) {
    const DlTensor kind = {.device = device, .dtype = {kDlInt, 32, 1}};
    *out = quickly_made(&kind, shape, ndim, address);
    return *out != NULL;
}

int current_stream(DlDevice device, void** stream) {
    *stream = NULL;
    return device.device_type != kDlCuda || exchange->current_stream(kDlCuda, device.device_id, stream) == 0;
}

int find_stream(DlDevice device, PyObject* graph, void** stream) {
    if (!current_stream(device, stream)) return 0;
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
    Scratch scratch = {NULL, NULL, NULL};
    PyObject* results = PyTuple_New(outputs);
    if (!results) return NULL;
    int done = 1;
    for (Py_ssize_t i = 0; done && i < outputs; ++i) {
        PyObject* result = NULL;
        done = allocate(PyTuple_GetItem(like, i), &result, &arrays[used++]);
        PyTuple_SetItem(results, i, result);  // NULL is none yet
    }
    if (done && like_workspace != Py_None) {
        DlTensor seen;
        done = exchange->look(like_workspace, &seen) == 0 && take_scratch(like_workspace, seen.shape[0], &scratch);
    }
    done = done && run_call(call, arrays, scratch.address, stream);
    drop_scratch(&scratch);
    if (done) return results;
    Py_DECREF(results);
    return NULL;
}

// What every Graph has: past its __getattr__(), which makes all look-ups slower.
static PyObject* of_graph(PyObject* graph, PyObject* name) {
    return PyObject_GenericGetAttr(graph, name);
}

void* context_of_graph(PyObject* graph) {
    PyObject* context = of_graph(graph, context_name);
    if (context == Py_None) {  // nothing ran on it yet
        Py_DECREF(context);
        PyObject* described = PyObject_CallMethodObjArgs(graph, describe_name, NULL);
        context = described ? of_graph(graph, context_name) : NULL;
        Py_XDECREF(described);
    }
    PyObject* number = context ? PyObject_GetAttr(context, value_name) : NULL;
    void* value = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    Py_XDECREF(context);
    return value;
}

// The plan of a problem on a transient graph: a Handle, a new reference. None where Python has to look.
static PyObject* planned(PyObject* graph, PyObject* entry, void* stream) {
    PyObject* problem = PyTuple_GetItem(entry, 1);
    PyObject* bytes = PyTuple_GetItem(entry, 5);
    PyObject* plans = of_graph(graph, plans_name);
    if (!plans) return NULL;
    PyObject* handle = PyDict_GetItemWithError(plans, problem);
    Py_XINCREF(handle);
    if (!handle && !PyErr_Occurred() && !stream && bytes != Py_None) {
        // Whose graph is described already; the first plan on one is Python's.
        PyObject* described = of_graph(graph, handle_name);
        PyObject* context = described && described != Py_None ? of_graph(graph, context_name) : NULL;
        PyObject* graph_number = context ? PyObject_GetAttr(described, value_name) : NULL;
        PyObject* context_number = graph_number ? PyObject_GetAttr(context, value_name) : NULL;
        void* g = context_number ? PyLong_AsVoidPtr(graph_number) : NULL;
        void* c = context_number ? PyLong_AsVoidPtr(context_number) : NULL;
        void* plan = g && c ? make_plan(c, g, bytes, NULL) : NULL;
        if (plan) {
            handle = new_handle(plan, plan_destroyer());
            if (handle && PyDict_SetItem(plans, problem, handle) != 0) Py_CLEAR(handle);
        }
        Py_XDECREF(context_number);
        Py_XDECREF(graph_number);
        Py_XDECREF(context);
        Py_XDECREF(described);
    }
    Py_DECREF(plans);
    if (handle || PyErr_Occurred()) return handle;
    return PyObject_CallMethodObjArgs(graph, planned_name, problem, PyTuple_GetItem(entry, 2), NULL);
}

// `entry` is (bytes of recipe(), problem, arguments of the plan, a tensor for each result that is of its type and device,
// one of bytes for the workspace, bytes of problem() or None). None where Python has to look.
static PyObject* cooked(PyObject* entry, PyObject* const* inputs, void** arrays, int32_t used, PyObject* graph,
                        const int64_t* sizes) {
    const Recipe* head = (const Recipe*)PyBytes_AsString(PyTuple_GetItem(entry, 0));
    const Call* call = (const Call*)(head + 1);
    PyObject* like = PyTuple_GetItem(entry, 3);
    void* stream;
    if (!find_stream(head->device, graph, &stream)) return NULL;
    PyObject* handle = planned(graph, entry, stream);
    if (handle == Py_None) return handle;
    PyObject* number = handle ? PyObject_GetAttr(handle, value_name) : NULL;
    const void* plan = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    Scratch scratch = {NULL, NULL, NULL};
    PyObject* results = plan ? PyTuple_New(head->results) : NULL;
    int done = results != NULL;
    for (int32_t r = 0; done && r < head->results; ++r) {
        const Result* result = &head->result[r];
        int64_t shape[kMostDims];
        memcpy(shape, result->shape, sizeof shape);
        if (result->lead >= 0) shape[0] = sizes[result->lead];
        PyObject* made;
        done = result->like >= 0
                   ? allocate(inputs[result->like], &made, &arrays[used++])
                   : allocate_shape(PyTuple_GetItem(like, r), shape, result->ndim, &made, &arrays[used++]);
        PyTuple_SetItem(results, r, made);  // NULL is none yet
    }
    const size_t bytes = done ? workspace_of(plan) : 0;
    if (bytes > 0) done = take_scratch(PyTuple_GetItem(entry, 4), (int64_t)bytes + 255, &scratch);
    done = done && run_plan(call, plan, arrays, scratch.address, bytes, stream);
    drop_scratch(&scratch);
    Py_XDECREF(handle);
    if (done) return results;
    Py_XDECREF(results);
    return NULL;
}

// What a transient graph says of its sizes. 0 for one that lasts, or with an exception.
static int sizes_of(PyObject* graph, int64_t* sizes) {
    PyObject* given = of_graph(graph, sizes_name);
    if (!given) {
        PyErr_Format(PyExc_TypeError, "expected a gnntune.torch.Graph, not %R", (PyObject*)Py_TYPE(graph));
        return 0;
    }
    const int transient = given != Py_None;
    for (int i = 0; transient && i < kSizes; ++i) sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(given, i));
    Py_DECREF(given);
    return transient && !PyErr_Occurred();
}

// (op, id of the numbers, determinism), by which calls are remembered: a new reference. Those of the last operations are kept.
static PyObject* key_of(PyObject* op, PyObject* numbers) {
    enum { kPlaces = 64 };
    static struct {
        PyObject *op, *numbers, *key;  // references: what is alive keeps its address
        int strict;
    } keys[kPlaces];
    const int strict = is_deterministic();
    if (strict < 0) return NULL;
    const size_t place = (((uintptr_t)numbers >> 4) ^ ((uintptr_t)op >> 5) ^ (unsigned)strict) % kPlaces;
    PyObject* key = keys[place].key;
    if (key && keys[place].op == op && keys[place].numbers == numbers && keys[place].strict == strict) {
        Py_INCREF(key);
        return key;
    }
    PyObject* number = PyLong_FromVoidPtr(numbers);
    key = number ? PyTuple_Pack(3, op, number, strict ? Py_True : Py_False) : NULL;
    Py_XDECREF(number);
    if (!key) return NULL;
    PyObject* const gone[] = {keys[place].op, keys[place].numbers, keys[place].key};
    Py_INCREF(op);
    Py_INCREF(numbers);
    Py_INCREF(key);
    keys[place].op = op;
    keys[place].numbers = numbers;
    keys[place].key = key;
    keys[place].strict = strict;
    for (int i = 0; i < 3; ++i) Py_XDECREF(gone[i]);
    return key;
}

// What `known` has for an operation and its numbers: a new reference to a list; NULL, perhaps with an exception, if
// nothing.
static PyObject* remembered(PyObject* known, PyObject* op, PyObject* numbers) {
    PyObject* key = key_of(op, numbers);
    PyObject* calls = key ? PyDict_GetItemWithError(known, key) : NULL;  // (numbers, list)
    if (calls) {
        calls = PyTuple_GetItem(calls, 1);
        Py_XINCREF(calls);
    }
    Py_XDECREF(key);
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
        void* address = memory_of(&seen[i]);
        if ((uintptr_t)address % 16 != 0) return 0;
        arrays[(*used)++] = address;
    }
    return 1;
}

static int matches(const Found* found, PyObject* entry, const DlTensor* seen, Py_ssize_t count) {
    const void* head = PyBytes_AsString(PyTuple_GetItem(entry, 0));
    if (!head) return 0;
    const Recipe* made = head;
    const TensorCall* call = head;
    if ((found->transient ? made->inputs : call->inputs) != count) return 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const Form* form = found->transient ? &made->input[i] : &call->input[i];
        if (form->ndim < 0 || seen[i].ndim < 0) {
            if (form->ndim != seen[i].ndim) return 0;
            continue;
        }
        const int32_t lead = found->transient ? made->lead[i] : kNoSize;
        if (!has_form(&seen[i], form, lead < 0 ? form->shape[0] : found->sizes[lead])) return 0;
    }
    return 1;
}

int find_prepared(PyObject* graph, PyObject* op, PyObject* numbers, PyObject* const* inputs, Py_ssize_t count,
                  Found* found) {
    DlTensor seen[kMostTensors];
    found->entry = NULL;
    found->used = 0;
    if (!look_at(inputs, count, seen, found->arrays, &found->used)) return 0;
    found->transient = sizes_of(graph, found->sizes);
    if (PyErr_Occurred()) return 0;
    PyObject* known = found->transient ? recipes : of_graph(graph, fast_name);
    PyObject* calls = known ? remembered(known, op, numbers) : NULL;
    if (!found->transient) Py_XDECREF(known);
    if (!calls) return 0;
    const Py_ssize_t size = PyList_Size(calls);
    for (Py_ssize_t c = 0; !found->entry && c < size; ++c) {
        PyObject* entry = PyList_GetItem(calls, c);
        if (!entry) break;
        if (matches(found, entry, seen, count)) found->entry = entry;
    }
    Py_XINCREF(found->entry);
    Py_DECREF(calls);
    return found->entry != NULL;
}

PyObject* run_found(Found* found, PyObject* const* inputs, PyObject* graph) {
    PyObject* entry = found->entry;
    found->entry = NULL;
    PyObject* results = found->transient ? cooked(entry, inputs, found->arrays, found->used, graph, found->sizes)
                                         : matched(entry, found->arrays, found->used, graph);
    Py_DECREF(entry);
    return results;
}

// run_tensors(graph, op, numbers, *inputs) -> a tuple of results, or None where Python has to do it.
PyObject* run_tensors(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count < 3) {
        PyErr_SetString(PyExc_TypeError, "expected run_tensors(graph, op, numbers, *inputs)");
        return NULL;
    }
    Found found;
    if (exchange && find_prepared(args[0], args[1], args[2], args + 3, count - 3, &found)) {
        return run_found(&found, args + 3, args[0]);
    }
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

// plain(*tensors) -> bool, or None where Python has to look: whether these are tensors of one type, or None, that no mode,
// transform or autocast looks at.
PyObject* plain(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (!exchange) Py_RETURN_NONE;
    int on = modes_are_on();
    if (on == 0) on = autocast_is_on();
    if (on == 0) on = functorch_is_on();
    if (on < 0) return NULL;
    if (on) Py_RETURN_FALSE;
    DlType type;
    int known = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (args[i] == Py_None) continue;
        PyObject* its_type = (PyObject*)Py_TYPE(args[i]);
        if (its_type != tensor_type && its_type != parameter_type) Py_RETURN_FALSE;
        DlTensor seen;
        if (exchange->look(args[i], &seen) != 0) {
            PyErr_Clear();  // a sparse tensor, say
            Py_RETURN_NONE;
        }
        if (known && memcmp(&type, &seen.dtype, sizeof type) != 0) Py_RETURN_FALSE;
        type = seen.dtype;
        known = 1;
    }
    Py_RETURN_TRUE;
}
