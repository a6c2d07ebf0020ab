// Whole layers as one node of autograd, forward and backward: what gnntune.pyg._fused does for torch's tensors in Python,
// without a line of Python between a layer's call and its kernels.
//
// A layer's function here asks whether its tensors are plain: of torch's own types, of one dtype, looked at by no mode, no
// transform and no autocast. If they are not, or torch has no functions for them (_shim.c), it returns None and Python does
// the layer. If one of them wants a gradient it goes through the autograd.Function whose forward() is forward_layer(), with
// those tensors alone: torch asks questions about each argument. What that needs beside stands on the caller's stack, and
// what the backward needs in the state, a tuple, and in the tensors that torch saves.
#include "_bias.h"
#include "_products.h"
#include "_scores.h"
#include "_shim.h"

#include <string.h>

// Python's part: apply() of the autograd.Function; run() of gnntune.torch._run; who watches runs, a list; backward() of the
// function, for a gradient of a gradient; the numbers of a sum's gradient.
static PyObject *function_apply, *run_in_python, *watchers, *backward_in_python, *sum_reversed;

static PyObject *requires_grad_name, *to_save_name, *state_name, *saved_tensors_name, *contiguous_name, *clone_name,
    *is_neg_name, *spmm_name, *spmm_grad_name, *gat_name, *gat_grad_name, *agnn_name, *agnn_grad_name;

// set_layers(apply, run, watchers, backward, sum_reversed), behind set_torch().
PyObject* set_layers(PyObject* self, PyObject* args) {
    (void)self;
    enum { kGiven = 5 };
    PyObject* given[kGiven];
    if (!PyArg_ParseTuple(args, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4])) return NULL;
    PyObject** kept[kGiven] = {&function_apply, &run_in_python, &watchers, &backward_in_python, &sum_reversed};
    for (int i = 0; i < kGiven; ++i) {
        Py_INCREF(given[i]);
        PyObject* gone = *kept[i];
        *kept[i] = given[i];
        Py_XDECREF(gone);
    }
    Py_RETURN_NONE;
}

int intern_layer_names(void) {
    const struct {
        PyObject** name;
        const char* text;
    } kNames[] = {
        {&requires_grad_name, "requires_grad"},
        {&to_save_name, "to_save"},
        {&state_name, "state"},
        {&saved_tensors_name, "saved_tensors"},
        {&contiguous_name, "contiguous"},
        {&clone_name, "clone"},
        {&is_neg_name, "is_neg"},
        {&spmm_name, "spmm"},
        {&spmm_grad_name, "spmm_grad"},
        {&gat_name, "gat"},
        {&gat_grad_name, "gat_grad"},
        {&agnn_name, "agnn"},
        {&agnn_grad_name, "agnn_grad"},
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (!(*kNames[i].name = PyUnicode_InternFromString(kNames[i].text))) return 0;
    }
    return intern_product_names() && intern_module_names();
}

// ---- A layer's call ----

typedef enum { kMapped, kGat, kAgnn, kKinds } Kind;
enum { kMostOfLayer = 6, kMostSaved = 12 };

// Tensors of a layer, in the order of its gradients.
enum { kX, kTarget, kWeight, kRoot, kBias, kMappedTensors };         // of kMapped
enum { kAttRow = 2, kAttCol = 3, kGatTensors = 5, kGatWeight = 1 };  // of kGat: x, weight, att_row, att_col, bias
enum { kBeta = 1, kAgnnTensors = 2 };                                // of kAgnn: x, beta

typedef struct {
    Kind kind;
    PyObject *graph, *numbers, *bare;     // numbers of a run that a gradient follows, and of one that none does
    PyObject *edge_weight, *self_weight;  // constants, or None
    PyObject* seed;                       // of dropout, or None
    PyObject* tensors[kMostOfLayer];      // None where there is none
    int count;
    unsigned needs;  // which of them want a gradient, a bit each; 0 where none follows
    int first;       // kMapped: features are summed before they are mapped
    int own;         // kMapped: sources are targets
} Layer;

static int wants(const Layer* layer, int tensor) {
    return layer->needs >> tensor & 1;
}

// The layer whose forward() this thread calls next, if it does.
static _Thread_local struct {
    const Layer* layer;
    PyObject* state;
} pending;

// Whether tensors are plain and of one dtype, and which want a gradient. -1 and an exception if torch fails; 0: Python has
// to look.
static int is_plain(Layer* layer) {
    if (!shim_multiplies() || !shim_asks() || !function_apply) return 0;
    if (shim_autocast()) return 0;
    int on = modes_are_on();
    if (on == 0) on = functorch_is_on();
    if (on != 0) return on < 0 ? -1 : 0;
    DlTensor seen, first;
    if (!look_at_tensor(layer->tensors[0], &first)) return 0;
    for (int i = 1; i < layer->count; ++i) {
        if (layer->tensors[i] == Py_None) continue;
        if (!look_at_tensor(layer->tensors[i], &seen)) return 0;
        if (memcmp(&seen.dtype, &first.dtype, sizeof seen.dtype) != 0) return 0;
        if (memcmp(&seen.device, &first.device, sizeof seen.device) != 0) return 0;  // torch has the words
    }
    layer->needs = 0;
    if (!shim_gradients()) return 1;
    for (int i = 0; i < layer->count; ++i) {
        if (layer->tensors[i] == Py_None) continue;
        PyObject* answer = PyObject_GetAttr(layer->tensors[i], requires_grad_name);
        if (!answer) return -1;
        Py_DECREF(answer);
        if (answer == Py_True) layer->needs |= 1u << i;
    }
    return 1;
}

// ---- Runs ----

// A tuple of results: NULL and an exception if it fails.
static PyObject* run_op(PyObject* graph, PyObject* op, PyObject* numbers, PyObject* const* inputs, int count) {
    enum { kBefore = 3 };
    PyObject* all[kBefore + kMostTensors] = {graph, op, numbers};
    for (int i = 0; i < count; ++i) all[kBefore + i] = inputs[i];
    if (PyList_Size(watchers) == 0) {
        PyObject* results = run_tensors(NULL, all, kBefore + count);
        if (results != Py_None) return results;
        Py_DECREF(results);
    }
    PyObject* arguments = PyTuple_New(kBefore + count);
    if (!arguments) return NULL;
    for (int i = 0; i < kBefore + count; ++i) {
        Py_INCREF(all[i]);
        PyTuple_SetItem(arguments, i, all[i]);
    }
    PyObject* results = PyObject_CallObject(run_in_python, arguments);
    Py_DECREF(arguments);
    return results;
}

// A result as a new reference, Py_None if there are fewer.
static PyObject* result_of(PyObject* results, Py_ssize_t place) {
    PyObject* result = place < PyTuple_Size(results) ? PyTuple_GetItem(results, place) : Py_None;
    Py_INCREF(result);
    return result;
}

// Takes `results`, which may be NULL.
static PyObject* first_result(PyObject* results) {
    PyObject* first = results ? result_of(results, 0) : NULL;
    Py_XDECREF(results);
    return first;
}

// What a backward wants to see, in order; borrowed until they are handed over.
typedef struct {
    PyObject* tensors[kMostSaved];
    int count;
} Saved;

static void keep(Saved* saved, PyObject* tensor) {
    saved->tensors[saved->count++] = tensor;
}

// ---- weight (sums of x over the graph) + root target + bias ----

static int has_reduce(PyObject* numbers, const char* name) {
    PyObject* reduce = PyTuple_GetItem(numbers, 0);
    return reduce && PyUnicode_CompareWithASCIIString(reduce, name) == 0;
}

// As sums_first() of gnntune.pyg._fused.
static int sums_come_first(const Layer* layer, const Matrix* x, const Matrix* weight) {
    const int64_t width = x->size[1], out = weight->size[0];
    if (has_reduce(layer->numbers, "max") || width <= out) return 1;
    return wants(layer, kWeight) && !wants(layer, kX) && width <= 2 * out;
}

enum { kSavedFeatures, kSavedArgmax, kSavedSeen, kSavedTarget, kSavedWeight, kSavedRoot, kMappedSaved };

static PyObject* forward_mapped(const Layer* layer, PyObject** kept, Saved* saved) {
    PyObject* const x = layer->tensors[kX];
    PyObject* const root = layer->tensors[kRoot];
    PyObject* const target = layer->own ? x : layer->tensors[kTarget];
    PyObject* const bias = layer->tensors[kBias];
    const int is_sum = has_reduce(layer->numbers, "sum");
    Matrix features, weight;
    if (!matrix_of(x, &features) || !matrix_of(layer->tensors[kWeight], &weight)) return NULL;
    PyObject *argmax = Py_None, *seen = x, *out;
    PyObject* inputs[3] = {x, layer->edge_weight, layer->self_weight};
    if (layer->first) {
        // Winners of a maximum are for the gradient of x, which the features of a first layer do not want.
        PyObject* numbers = wants(layer, kX) ? layer->numbers : layer->bare;
        PyObject* results = run_op(layer->graph, spmm_name, numbers, inputs, 3);
        if (!results) return NULL;
        kept[0] = seen = result_of(results, 0);
        kept[1] = argmax = result_of(results, 1);
        Py_DECREF(results);
        Matrix summed;
        if (!matrix_of(seen, &summed)) return NULL;
        out = product(summed, turned(weight), bias);
        keep(saved, is_sum || !wants(layer, kX) ? Py_None : x);
    } else {
        kept[0] = inputs[0] = product(features, turned(weight), Py_None);
        if (!kept[0]) return NULL;
        out = first_result(run_op(layer->graph, spmm_name, layer->numbers, inputs, 3));
        if (out && bias != Py_None && !add_bias(layer->graph, out, bias)) Py_CLEAR(out);
        keep(saved, is_sum ? Py_None : kept[0]);
    }
    if (!out) return NULL;
    if (root != Py_None) {
        Matrix of_targets, of_root;
        if (!matrix_of(target, &of_targets) || !matrix_of(root, &of_root) ||
            !add_product(out, of_targets, turned(of_root))) {
            Py_DECREF(out);
            return NULL;
        }
    }
    keep(saved, argmax);
    keep(saved, wants(layer, kWeight) ? seen : Py_None);
    keep(saved, wants(layer, kRoot) ? target : Py_None);
    keep(saved, wants(layer, kX) || !layer->first ? layer->tensors[kWeight] : Py_None);
    keep(saved, wants(layer, kTarget) || layer->own ? root : Py_None);
    return out;
}

// The gradient of a sum over the graph.
static PyObject* unsummed(const Layer* layer, PyObject* const* saved, PyObject* grad) {
    if (has_reduce(layer->numbers, "sum")) {
        PyObject* const inputs[3] = {grad, layer->edge_weight, layer->self_weight};
        return first_result(run_op(layer->graph, spmm_name, sum_reversed, inputs, 3));
    }
    PyObject* const inputs[5] = {saved[kSavedFeatures], layer->edge_weight, layer->self_weight, grad,
                                 saved[kSavedArgmax]};
    return first_result(run_op(layer->graph, spmm_grad_name, layer->numbers, inputs, 5));
}

static int backward_mapped(const Layer* layer, PyObject* const* saved, PyObject* grad, PyObject** grads) {
    Matrix g, of_target, weight, root, seen, back;
    if (!matrix_of(grad, &g)) return 0;
    if (wants(layer, kBias) && !(grads[kBias] = bias_gradient(layer->graph, grad))) return 0;
    if (wants(layer, kRoot)) {
        if (!matrix_of(saved[kSavedTarget], &of_target)) return 0;
        if (!(grads[kRoot] = product(turned(g), of_target, Py_None))) return 0;
    }
    if (saved[kSavedRoot] != Py_None && !matrix_of(saved[kSavedRoot], &root)) return 0;
    if (wants(layer, kTarget) && !(grads[kTarget] = product(g, root, Py_None))) return 0;
    if (!wants(layer, kX) && !wants(layer, kWeight)) return 1;
    if (saved[kSavedWeight] != Py_None && !matrix_of(saved[kSavedWeight], &weight)) return 0;
    if (wants(layer, kWeight) && !matrix_of(saved[kSavedSeen], &seen)) return 0;
    if (layer->first) {
        if (wants(layer, kWeight) && !(grads[kWeight] = product(turned(g), seen, Py_None))) return 0;
        if (wants(layer, kX)) {
            PyObject* mapped = product(g, weight, Py_None);
            grads[kX] = mapped ? unsummed(layer, saved, mapped) : NULL;
            Py_XDECREF(mapped);
            if (!grads[kX]) return 0;
        }
    } else {
        PyObject* mapped = unsummed(layer, saved, grad);
        int done = mapped && matrix_of(mapped, &back);
        if (done && wants(layer, kWeight)) done = (grads[kWeight] = product(turned(back), seen, Py_None)) != NULL;
        if (done && wants(layer, kX)) done = (grads[kX] = product(back, weight, Py_None)) != NULL;
        Py_XDECREF(mapped);
        if (!done) return 0;
    }
    return !layer->own || !grads[kX] || add_product(grads[kX], g, root);
}

// ---- GAT of a map of x, or of x where there is none, with the bias: features of heads stand side by side ----

enum { kGatX, kGatW, kGatRowAtt, kGatColAtt, kGatFeatures, kGatRow, kGatCol, kGatOut, kGatLse, kGatSeed, kGatSaved };

static PyObject* forward_gat(const Layer* layer, PyObject** kept, Saved* saved) {
    Matrix x, weight;
    DlTensor att;
    const int has_map = layer->tensors[kGatWeight] != Py_None;
    if (!matrix_of(layer->tensors[kX], &x) || (has_map && !matrix_of(layer->tensors[kGatWeight], &weight)) ||
        !look_at_tensor(layer->tensors[kAttRow], &att)) {
        return NULL;
    }
    PyObject* flat = layer->tensors[kX];
    if (has_map) {
        flat = product(x, turned(weight), Py_None);
    } else {
        Py_INCREF(flat);
    }
    PyObject* h = flat ? shaped(flat, x.size[0], att.shape[1], att.shape[2]) : NULL;
    Py_XDECREF(flat);
    kept[0] = h;
    if (!h || !scores_of(layer->graph, h, layer->tensors[kAttRow], layer->tensors[kAttCol], &kept[1], &kept[2])) {
        return NULL;
    }
    PyObject* const inputs[4] = {h, kept[1], kept[2], layer->seed};
    PyObject* results = run_op(layer->graph, gat_name, layer->needs ? layer->numbers : layer->bare, inputs, 4);
    if (!results) return NULL;
    kept[3] = result_of(results, 0);
    kept[4] = result_of(results, 1);
    Py_DECREF(results);
    PyObject* out = shaped(kept[3], x.size[0], att.shape[1] * att.shape[2], 0);
    if (!out) return NULL;
    keep(saved, has_map ? layer->tensors[kX] : Py_None);
    for (int i = 1; i < 4; ++i) keep(saved, layer->tensors[i]);
    for (int i = 0; i < 3; ++i) keep(saved, kept[i]);
    // Without a bias the result itself: torch sees then who writes to it.
    const int has_bias = layer->tensors[kBias] != Py_None;
    keep(saved, has_bias ? kept[3] : out);
    keep(saved, kept[4]);
    keep(saved, layer->seed);
    if (!has_bias) return out;
    PyObject* sum = with_bias(layer->graph, out, layer->tensors[kBias]);
    Py_DECREF(out);
    return sum;
}

static int backward_gat(const Layer* layer, PyObject* const* saved, PyObject* grad, PyObject** grads) {
    Matrix x, weight, flat;
    DlTensor seen;
    const int has_map = saved[kGatW] != Py_None;
    if (has_map && (!matrix_of(saved[kGatX], &x) || !matrix_of(saved[kGatW], &weight))) return 0;
    if (!look_at_tensor(saved[kGatFeatures], &seen)) return 0;
    if (wants(layer, kBias) && !(grads[kBias] = bias_gradient(layer->graph, grad))) return 0;
    PyObject* by_head = shaped(grad, seen.shape[0], seen.shape[1], seen.shape[2]);
    PyObject* y = by_head ? shaped(saved[kGatOut], seen.shape[0], seen.shape[1], seen.shape[2]) : NULL;
    PyObject* const inputs[7] = {saved[kGatFeatures], saved[kGatRow], saved[kGatCol], by_head, y,
                                 saved[kGatLse],      saved[kGatSeed]};
    PyObject* results = y ? run_op(layer->graph, gat_grad_name, layer->numbers, inputs, 7) : NULL;
    Py_XDECREF(y);
    Py_XDECREF(by_head);
    if (!results) return 0;
    PyObject* g = PyTuple_GetItem(results, 0);
    PyObject* g_row = PyTuple_GetItem(results, 1);
    PyObject* g_col = PyTuple_GetItem(results, 2);
    const int mapped = wants(layer, kX) || wants(layer, kGatWeight);
    int done = g && g_row && g_col;
    if (done && (mapped || wants(layer, kAttRow) || wants(layer, kAttCol))) {
        done = gradients_of_scores(layer->graph, saved[kGatFeatures], saved[kGatRowAtt], saved[kGatColAtt], g_row,
                                   g_col, mapped ? g : NULL, wants(layer, kAttRow) ? &grads[kAttRow] : NULL,
                                   wants(layer, kAttCol) ? &grads[kAttCol] : NULL);
    }
    if (done && !has_map && wants(layer, kX)) {
        done = (grads[kX] = shaped(g, seen.shape[0], seen.shape[1] * seen.shape[2], 0)) != NULL;
    }
    if (done && mapped && has_map) {
        done = matrix_shaped(g, seen.shape[0], weight.size[0], &flat);
        if (done && wants(layer, kGatWeight)) {
            done = (grads[kGatWeight] = product(turned(flat), x, Py_None)) != NULL;
        }
        if (done && wants(layer, kX)) done = (grads[kX] = product(flat, weight, Py_None)) != NULL;
    }
    Py_DECREF(results);
    return done;
}

// ---- AGNN of x with itself ----

enum { kAgnnX, kAgnnBeta, kAgnnOut, kAgnnLse, kAgnnSaved };

static PyObject* forward_agnn(const Layer* layer, PyObject** kept, Saved* saved) {
    PyObject* const x = layer->tensors[kX];
    PyObject* const inputs[3] = {x, x, layer->tensors[kBeta]};
    PyObject* results = run_op(layer->graph, agnn_name, layer->needs ? layer->numbers : layer->bare, inputs, 3);
    if (!results) return NULL;
    PyObject* out = result_of(results, 0);
    kept[0] = result_of(results, 1);
    Py_DECREF(results);
    keep(saved, x);
    keep(saved, layer->tensors[kBeta]);
    keep(saved, out);
    keep(saved, kept[0]);
    return out;
}

static int backward_agnn(const Layer* layer, PyObject* const* saved, PyObject* grad, PyObject** grads) {
    PyObject* const inputs[6] = {saved[kAgnnX], saved[kAgnnX],   saved[kAgnnBeta],
                                 grad,          saved[kAgnnOut], saved[kAgnnLse]};
    PyObject* results = run_op(layer->graph, agnn_grad_name, layer->numbers, inputs, 6);
    if (!results) return 0;
    int done = 1;
    if (wants(layer, kX)) {
        grads[kX] = result_of(results, 0);
        done = add_tensor(layer->graph, grads[kX], PyTuple_GetItem(results, 1));
    }
    if (wants(layer, kBeta)) grads[kBeta] = result_of(results, 2);
    Py_DECREF(results);
    return done;
}

// ---- The node ----

static PyObject* (*const kForward[kKinds])(const Layer*, PyObject**, Saved*) = {forward_mapped, forward_gat,
                                                                                forward_agnn};
static int (*const kBackward[kKinds])(const Layer*, PyObject* const*, PyObject*, PyObject**) = {
    backward_mapped, backward_gat, backward_agnn};
static const int kSavedOf[kKinds] = {kMappedSaved, kGatSaved, kAgnnSaved};

// The layer's result; what it made beside goes with it, but for what the context `ctx` is to save. NULL: no context.
static PyObject* compute(const Layer* layer, PyObject* ctx) {
    PyObject* kept[kMostOfLayer] = {NULL};
    Saved saved = {{NULL}, 0};
    PyObject* out = kForward[layer->kind](layer, kept, &saved);
    if (out && ctx) {
        PyObject* tensors = PyTuple_New(saved.count);
        for (int i = 0; tensors && i < saved.count; ++i) {
            Py_INCREF(saved.tensors[i]);
            PyTuple_SetItem(tensors, i, saved.tensors[i]);
        }
        if (!tensors || PyObject_SetAttr(ctx, to_save_name, tensors) != 0) Py_CLEAR(out);
        Py_XDECREF(tensors);
    }
    for (int i = 0; i < kMostOfLayer; ++i) Py_XDECREF(kept[i]);
    if (!out && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected tensors with memory of their own");
    return out;
}

enum { kFlagKind = 4, kFlagFirst = 4, kFlagOwn = 5, kFlagNeeds = 6 };  // bits of a state's number

// (graph, numbers, edge weights, self weights, number)
static PyObject* state_of(const Layer* layer) {
    const long number = (long)layer->kind | (long)layer->first << kFlagFirst | (long)layer->own << kFlagOwn |
                        (long)layer->needs << kFlagNeeds;
    PyObject* flags = PyLong_FromLong(number);
    PyObject* state =
        flags ? PyTuple_Pack(5, layer->graph, layer->numbers, layer->edge_weight, layer->self_weight, flags) : NULL;
    Py_XDECREF(flags);
    return state;
}

// What a state says. 0 and an exception if that is no state.
static int read_state(PyObject* state, Layer* layer) {
    memset(layer, 0, sizeof *layer);
    if (!PyTuple_Check(state) || PyTuple_Size(state) != 5) {
        PyErr_SetString(PyExc_TypeError, "expected the state of a layer");
        return 0;
    }
    const long number = PyLong_AsLong(PyTuple_GetItem(state, 4));
    if (number < 0) return 0;
    layer->graph = PyTuple_GetItem(state, 0);
    layer->numbers = PyTuple_GetItem(state, 1);
    layer->edge_weight = PyTuple_GetItem(state, 2);
    layer->self_weight = PyTuple_GetItem(state, 3);
    layer->kind = (Kind)(number & ((1 << kFlagKind) - 1));
    layer->first = number >> kFlagFirst & 1;
    layer->own = number >> kFlagOwn & 1;
    layer->needs = (unsigned)(number >> kFlagNeeds);
    return 1;
}

// The result of a layer, through a node of autograd where a gradient may follow. None: Python has to do it.
static PyObject* called(Layer* layer) {
    if (!layer->needs) return compute(layer, NULL);
    PyObject* state = state_of(layer);
    PyObject* arguments = NULL;
    if (state) {
        int count = 1;
        for (int i = 0; i < layer->count; ++i) count += wants(layer, i);
        arguments = PyTuple_New(count);
        for (int i = layer->count - 1; arguments && i >= 0; --i) {
            if (!wants(layer, i)) continue;
            Py_INCREF(layer->tensors[i]);
            PyTuple_SetItem(arguments, --count, layer->tensors[i]);
        }
        if (arguments) {
            Py_INCREF(state);
            PyTuple_SetItem(arguments, 0, state);
        }
    }
    pending.layer = layer;
    pending.state = state;
    PyObject* result = arguments ? PyObject_CallObject(function_apply, arguments) : NULL;
    pending.layer = NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(state);
    return result;
}

// forward(ctx, state, *tensors that want a gradient) of the autograd.Function, as called() causes it.
PyObject* forward_layer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    const Layer* layer = count >= 2 && pending.state == args[1] ? pending.layer : NULL;
    pending.layer = NULL;
    if (!layer) {
        PyErr_SetString(PyExc_TypeError, "a layer's function is called by the layer");
        return NULL;
    }
    PyObject* out = compute(layer, args[0]);
    if (out && PyObject_SetAttr(args[0], state_name, args[1]) != 0) Py_CLEAR(out);
    return out;
}

// A gradient whose elements lie in its memory as they are, one after another: a new reference to it, or to a copy. What torch
// knows to be zero has no memory, and of a negative view the sign is not there. NULL and an exception if torch fails.
static PyObject* as_it_lies(PyObject* grad) {
    DlTensor seen;
    const int looked = look_at_tensor(grad, &seen);
    if (looked && !is_contiguous(&seen)) return PyObject_CallMethodObjArgs(grad, contiguous_name, NULL);
    PyObject* negative = PyObject_CallMethodObjArgs(grad, is_neg_name, NULL);
    if (!negative) return NULL;
    const int lies = negative != Py_True && !(looked && !seen.data);
    Py_DECREF(negative);
    if (!lies) return PyObject_CallMethodObjArgs(grad, clone_name, NULL);
    Py_INCREF(grad);
    return grad;
}

// backward_layer(ctx, grad) -> gradients of what forward_layer() got.
PyObject* backward_layer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected backward_layer(ctx, grad)");
        return NULL;
    }
    PyObject* state = PyObject_GetAttr(args[0], state_name);
    PyObject* tensors = state ? PyObject_GetAttr(args[0], saved_tensors_name) : NULL;
    PyObject* saved[kMostSaved];
    PyObject* grads[kMostOfLayer] = {NULL};
    PyObject* grad = tensors ? as_it_lies(args[1]) : NULL;
    PyObject* all = NULL;
    Layer layer;
    int done = grad && read_state(state, &layer) && PyTuple_Size(tensors) == kSavedOf[layer.kind];
    for (int i = 0; done && i < kSavedOf[layer.kind]; ++i) saved[i] = PyTuple_GetItem(tensors, i);
    done = done && kBackward[layer.kind](&layer, saved, grad, grads);
    if (done) {
        Py_ssize_t wanted = 1;
        for (int i = 0; i < kMostOfLayer; ++i) wanted += wants(&layer, i);
        all = PyTuple_New(wanted);
        for (int i = kMostOfLayer - 1; all && i >= 0; --i) {
            if (!wants(&layer, i)) continue;
            PyTuple_SetItem(all, --wanted, grads[i]);
            grads[i] = NULL;
        }
        if (all) {
            Py_INCREF(Py_None);
            PyTuple_SetItem(all, 0, Py_None);
        }
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError,
                        "a gradient, or a tensor that was saved for it, has another size than in the forward, or no "
                        "memory of its own");
    }
    for (int i = 0; i < kMostOfLayer; ++i) Py_XDECREF(grads[i]);
    Py_XDECREF(grad);
    Py_XDECREF(tensors);
    Py_XDECREF(state);
    return all;
}

// The same as a method of the function's nodes.
static PyObject* backward(PyObject* ctx, PyObject* const* args, Py_ssize_t count) {
    const int twice = gradients_are_on();  // a gradient of the gradient: Python refuses in words
    if (twice < 0) return NULL;
    if (count == 1 && !twice) {
        PyObject* const given[2] = {ctx, args[0]};
        return backward_layer(NULL, given, 2);
    }
    return call_with(backward_in_python, ctx, args, count, NULL);
}

// backward_of_layers(type) -> backward() as a method of that type of nodes.
PyObject* backward_of_layers(PyObject* self, PyObject* type) {
    (void)self;
    static PyMethodDef method = {"apply", (PyCFunction)(void (*)(void))backward, METH_FASTCALL, NULL};
    return method_of_type(type, &method);
}

// ---- Layers, as Python calls them ----

static PyObject* called_if_plain(Layer* layer) {
    const int plain = is_plain(layer);
    if (plain < 0) return NULL;
    if (!plain) Py_RETURN_NONE;
    return called(layer);
}

// Whether a bias is a number for each of `size` features, as layers are made. What else broadcasts has a gradient of another
// shape.
static int is_bias(PyObject* bias, int64_t size) {
    DlTensor seen;
    return bias == Py_None || (look_at_tensor(bias, &seen) && seen.ndim == 1 && seen.shape[0] == size);
}

static int read_pair(PyObject* pair, Layer* layer) {
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a Pair of numbers");
        return 0;
    }
    layer->numbers = PyTuple_GetItem(pair, 0);
    layer->bare = PyTuple_GetItem(pair, 1);
    return 1;
}

static PyObject* expected(const char* words) {
    PyErr_SetString(PyExc_TypeError, words);
    return NULL;
}

// layer_mapped(graph, pair, edge_weight, self_weight, x, weight, bias, target, root) -> weight (sums of x) + root target +
// bias, or None. `target` is x where sources are targets.
PyObject* layer_mapped(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count != 9) return expected("expected layer_mapped(graph, pair, edges, selves, x, weight, bias, target, root)");
    Layer layer = {.kind = kMapped, .graph = args[0], .edge_weight = args[2], .self_weight = args[3], .seed = Py_None};
    if (!read_pair(args[1], &layer)) return NULL;
    layer.own = args[7] == args[4];
    PyObject* const tensors[] = {args[4], layer.own ? Py_None : args[7], args[5], args[8], args[6]};
    memcpy(layer.tensors, tensors, sizeof tensors);
    layer.count = kMappedTensors;
    const int plain = is_plain(&layer);
    if (plain < 0) return NULL;
    Matrix x, weight;
    if (!plain || !matrix_of(args[4], &x) || !matrix_of(args[5], &weight) || !is_bias(args[6], weight.size[0])) {
        Py_RETURN_NONE;
    }
    layer.first = sums_come_first(&layer, &x, &weight);
    return called(&layer);
}

// layer_gat(graph, pair, x, weight, att_row, att_col, bias, seed) -> GAT of x mapped by weight, or of x where that is None,
// plus bias; or None.
PyObject* layer_gat(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count != 8) return expected("expected layer_gat(graph, pair, x, weight, att_row, att_col, bias, seed)");
    Layer layer = {.kind = kGat, .graph = args[0], .edge_weight = Py_None, .self_weight = Py_None, .seed = args[7]};
    if (!read_pair(args[1], &layer)) return NULL;
    memcpy(layer.tensors, args + 2, kGatTensors * sizeof *args);
    layer.count = kGatTensors;
    DlTensor x, weight, att, other;
    const int has_map = args[3] != Py_None;
    if (!look_at_tensor(args[2], &x) || (has_map && (!look_at_tensor(args[3], &weight) || weight.ndim != 2)) ||
        !look_at_tensor(args[4], &att) || !look_at_tensor(args[5], &other) || x.ndim != 2 || att.ndim != 3 ||
        other.ndim != 3) {
        Py_RETURN_NONE;
    }
    const int64_t width = has_map ? weight.shape[0] : x.shape[1];
    if (!is_bias(args[6], width)) Py_RETURN_NONE;
    // Where memory is looked at as another shape, nobody asks whether it has that many elements.
    if (att.shape[0] != 1 || att.shape[1] * att.shape[2] != width || !is_contiguous(&att) ||
        memcmp(att.shape, other.shape, 3 * sizeof *att.shape) != 0 || !is_contiguous(&other)) {
        Py_RETURN_NONE;
    }
    if (x.dtype.code != kDlFloat && x.dtype.code != kDlBfloat) Py_RETURN_NONE;
    if (x.dtype.bits > 32) Py_RETURN_NONE;
    const int there = context_is_there(layer.graph, &x);  // if not, Python has the words
    if (there < 0) return NULL;
    if (!there) Py_RETURN_NONE;
    return called_if_plain(&layer);
}

// layer_agnn(graph, pair, x, beta) -> AGNN of x with itself, or None.
PyObject* layer_agnn(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (count != 4) return expected("expected layer_agnn(graph, pair, x, beta)");
    Layer layer = {.kind = kAgnn, .graph = args[0], .edge_weight = Py_None, .self_weight = Py_None, .seed = Py_None};
    if (!read_pair(args[1], &layer)) return NULL;
    memcpy(layer.tensors, args + 2, kAgnnTensors * sizeof *args);
    layer.count = kAgnnTensors;
    return called_if_plain(&layer);
}
