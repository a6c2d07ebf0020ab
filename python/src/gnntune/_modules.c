// Whether a layer of PyTorch Geometric, and the linear map in it, are as they were made: what gnntune.pyg asks at each call
// before a layer is computed as a whole, without Python.
#include "_tensors.h"

// gnntune.torch.Graph; types of linear maps; names of hooks of message passing; dictionaries of hooks of all modules.
static PyObject *graph_type, *map_types, *hook_names, *global_hooks;
static PyObject *flow_name, *aggr_name, *decomposed_name, *explain_name, *forward_hooks_name, *forward_pre_hooks_name,
    *backward_hooks_name, *backward_pre_hooks_name, *parameters_name, *weight_name, *bias_name, *forward_name,
    *dict_name, *n_rows_name, *n_cols_name;

int intern_module_names(void) {
    const struct {
        PyObject** name;
        const char* text;
    } kNames[] = {
        {&flow_name, "flow"},
        {&aggr_name, "aggr"},
        {&decomposed_name, "_decomposed_layers"},
        {&explain_name, "_explain"},
        {&forward_hooks_name, "_forward_hooks"},
        {&forward_pre_hooks_name, "_forward_pre_hooks"},
        {&backward_hooks_name, "_backward_hooks"},
        {&backward_pre_hooks_name, "_backward_pre_hooks"},
        {&parameters_name, "_parameters"},
        {&weight_name, "weight"},
        {&bias_name, "bias"},
        {&forward_name, "forward"},
        {&dict_name, "__dict__"},
        {&n_rows_name, "n_rows"},
        {&n_cols_name, "n_cols"},
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (!(*kNames[i].name = PyUnicode_InternFromString(kNames[i].text))) return 0;
    }
    return 1;
}

// set_modules(Graph, types of linear maps, names of hooks of message passing, dictionaries of hooks of all modules)
PyObject* set_modules(PyObject* self, PyObject* args) {
    (void)self;
    PyObject** const kept[] = {&graph_type, &map_types, &hook_names, &global_hooks};
    PyObject* given[4];
    if (!PyArg_ParseTuple(args, "OO!O!O!", &given[0], &PyTuple_Type, &given[1], &PyTuple_Type, &given[2], &PyTuple_Type,
                          &given[3])) {
        return NULL;
    }
    for (int i = 0; i < 4; ++i) {
        Py_INCREF(given[i]);
        PyObject* gone = *kept[i];
        *kept[i] = given[i];
        Py_XDECREF(gone);
    }
    Py_RETURN_NONE;
}

// Whether a dictionary has something under a name: -1 and an exception if that cannot be asked.
static int has_some(PyObject* dictionary, PyObject* name) {
    PyObject* found = PyDict_GetItemWithError(dictionary, name);
    if (!found) return PyErr_Occurred() ? -1 : 0;
    return PyObject_IsTrue(found);
}

static int is_text(PyObject* object, const char* text) {
    return object && PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

static int has_size(PyObject* graph, PyObject* name, int64_t size) {
    PyObject* number = PyObject_GenericGetAttr(graph, name);
    const int same = number && PyLong_AsLongLong(number) == size;
    Py_XDECREF(number);
    PyErr_Clear();
    return same;
}

// layer_graph(__dict__ of a layer, x, adjacency, aggregations) -> whether nothing about the layer and x asks for PyTorch
// Geometric's own code: True where prepare() of gnntune.pyg._layer would give the adjacency back, which is a Graph of x's size;
// None where the adjacency is to be looked at, and nothing else; else False.
PyObject* layer_graph(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count != 4 || !PyDict_Check(args[0]) || !PyTuple_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "expected layer_graph(dictionary, x, adjacency, aggregations)");
        return NULL;
    }
    DlTensor x;
    if (!graph_type || !look_at_tensor(args[1], &x)) Py_RETURN_FALSE;
    int asked = functorch_is_on();
    if (asked == 0) asked = modes_are_on();  // Python says which it is
    if (asked != 0) return asked < 0 ? NULL : PyBool_FromLong(0);
    const int is_float =
        x.dtype.code == kDlFloat ? x.dtype.bits == 32 || x.dtype.bits == 16 : x.dtype.code == kDlBfloat;
    const int is_here = x.device.device_type == kDlCpu || x.device.device_type == kDlCuda;
    if (x.ndim != 2 || x.shape[1] == 0 || !is_float || x.dtype.lanes != 1 || !is_here) Py_RETURN_FALSE;
    if (!is_text(PyDict_GetItemWithError(args[0], flow_name), "source_to_target")) Py_RETURN_FALSE;
    PyObject* aggr = PyDict_GetItemWithError(args[0], aggr_name);
    const int known = aggr && PyUnicode_Check(aggr) ? PySequence_Contains(args[3], aggr) : 0;
    PyObject* decomposed = PyDict_GetItemWithError(args[0], decomposed_name);
    if (known <= 0 || !decomposed || !PyLong_Check(decomposed) || PyLong_AsLong(decomposed) != 1) {
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    asked = has_some(args[0], explain_name);
    for (Py_ssize_t i = 0; asked == 0 && i < PyTuple_Size(hook_names); ++i) {
        asked = has_some(args[0], PyTuple_GetItem(hook_names, i));
    }
    if (asked < 0) return NULL;
    if (asked) Py_RETURN_FALSE;
    const int is_graph = (PyObject*)Py_TYPE(args[2]) == graph_type;
    if (is_graph && has_size(args[2], n_rows_name, x.shape[0]) && has_size(args[2], n_cols_name, x.shape[0])) {
        Py_RETURN_TRUE;
    }
    Py_RETURN_NONE;
}

// plain_map(module) -> the parameters of what is a linear map and nothing else: no hooks, no forward() of its own, and no
// weight that waits for its width. Else None.
PyObject* plain_map(PyObject* self, PyObject* module) {
    (void)self;
    int is_map = 0;
    for (Py_ssize_t i = 0; map_types && i < PyTuple_Size(map_types); ++i) {
        is_map |= (PyObject*)Py_TYPE(module) == PyTuple_GetItem(map_types, i);
    }
    if (!is_map) Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < PyTuple_Size(global_hooks); ++i) {
        const Py_ssize_t size = PyObject_Size(PyTuple_GetItem(global_hooks, i));
        if (size < 0) return NULL;
        if (size) Py_RETURN_NONE;
    }
    PyObject* own = PyObject_GenericGetAttr(module, dict_name);
    if (!own) return NULL;
    PyObject* const names[] = {forward_hooks_name, forward_pre_hooks_name, backward_hooks_name,
                               backward_pre_hooks_name};
    int hooked = has_some(own, forward_name);
    for (int i = 0; hooked == 0 && i < 4; ++i) hooked = has_some(own, names[i]);
    PyObject* parameters = hooked == 0 ? PyDict_GetItemWithError(own, parameters_name) : NULL;
    // A weight that is computed, by torch.nn.utils.parametrize say, is no parameter of this name.
    PyObject* weight = parameters ? PyDict_GetItemWithError(parameters, weight_name) : NULL;
    PyObject* bias = weight ? PyDict_GetItemWithError(parameters, bias_name) : NULL;  // None is one
    PyObject* found = bias && is_plain_parameter(weight) ? parameters : Py_None;
    Py_INCREF(found);
    Py_DECREF(own);
    if (!PyErr_Occurred()) return found;
    Py_DECREF(found);
    return NULL;
}
