// An operation with its gradient: apply(), and forward() and backward() of the autograd.Function of gnntune.torch._autograd,
// so that no Python runs between a call and its kernel, nor in a backward that is one run again.
#include "_tensors.h"

// Python's part: apply() of the autograd.Function whose forward() is below; which tensors that saves, by operation, numbers
// and needs; who finds that out; who runs what has no way here.
static PyObject *function_apply, *saves, *find_saves, *run_in_python;
// Python's backward; who watches runs, a list; the numbers of a sum's gradient.
static PyObject *backward_in_python, *watchers, *sum_reversed;
static PyObject *requires_grad_name, *to_save_name, *state_name, *saved_tensors_name, *spmm_name, *gat_grad_name,
    *agnn_grad_name, *attention_grad_name;

int intern_gradient_names(void) {
    const struct {
        PyObject** name;
        const char* text;
    } kNames[] = {
        {&requires_grad_name, "requires_grad"},
        {&to_save_name, "to_save"},
        {&state_name, "state"},
        {&saved_tensors_name, "saved_tensors"},
        {&spmm_name, "spmm"},
        {&gat_grad_name, "gat_grad"},
        {&agnn_grad_name, "agnn_grad"},
        {&attention_grad_name, "attention_grad"},
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (!(*kNames[i].name = PyUnicode_InternFromString(kNames[i].text))) return 0;
    }
    return 1;
}

// set_autograd(apply, saves, find_saves, run, backward, watchers, sum_reversed): once, behind set_torch().
PyObject* set_autograd(PyObject* self, PyObject* args) {
    (void)self;
    enum { kGiven = 7 };
    PyObject* given[kGiven];
    if (!PyArg_ParseTuple(args, "OOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                          &given[6])) {
        return NULL;
    }
    PyObject** kept[kGiven] = {&function_apply,     &saves,    &find_saves,  &run_in_python,
                               &backward_in_python, &watchers, &sum_reversed};
    for (int i = 0; i < kGiven; ++i) {
        Py_INCREF(given[i]);
        *kept[i] = given[i];
    }
    Py_RETURN_NONE;
}

// What apply() has found for the forward() that it causes, with the first argument of that: this thread calls it next, if
// it does.
static _Thread_local struct {
    Found* found;
    PyObject* what;
    PyObject* const* inputs;
} pending;

// Which of them want a gradient, a bit each; -1, and no exception, if one is no tensor.
static int wants_gradient(PyObject* const* tensors, Py_ssize_t count) {
    int wanting = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (tensors[i] == Py_None) continue;
        PyObject* wants = PyObject_GetAttr(tensors[i], requires_grad_name);
        if (!wants) {
            PyErr_Clear();
            return -1;
        }
        Py_DECREF(wants);
        if (wants == Py_True) wanting |= 1 << i;
    }
    return wanting;
}

static PyObject* first_of(PyObject* results) {
    if (results == Py_None) return results;
    PyObject* first = results ? PyTuple_GetItem(results, 0) : NULL;
    Py_XINCREF(first);
    Py_XDECREF(results);
    return first;
}

// Objects behind each other, a new reference to each.
static PyObject* tuple_of(PyObject* const* objects, Py_ssize_t count) {
    PyObject* all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all && i < count; ++i) {
        Py_INCREF(objects[i]);
        PyTuple_SetItem(all, i, objects[i]);
    }
    return all;
}

PyObject* call_with(PyObject* function, PyObject* first, PyObject* const* args, Py_ssize_t count, PyObject* last) {
    const Py_ssize_t size = count + 1 + (last != NULL);
    PyObject* all = PyTuple_New(size);
    for (Py_ssize_t i = 0; all && i < size; ++i) {
        PyObject* one = i == 0 ? first : i <= count ? args[i - 1] : last;
        Py_INCREF(one);
        PyTuple_SetItem(all, i, one);
    }
    PyObject* found = all ? PyObject_CallObject(function, all) : NULL;
    Py_XDECREF(all);
    return found;
}

PyObject* method_of_type(PyObject* type, PyMethodDef* method) {
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "expected a type");
        return NULL;
    }
    return PyDescr_NewMethod((PyTypeObject*)type, method);
}

// A tuple of bools, as the bits of `wanting` say. Kept for what operations have, which is four inputs at most.
static PyObject* bools_of(unsigned wanting, Py_ssize_t count) {
    enum { kKept = 5 };
    static PyObject* kept[kKept][1 << (kKept - 1)];
    PyObject** place = count < kKept ? &kept[count][wanting] : NULL;
    if (place && *place) {
        Py_INCREF(*place);
        return *place;
    }
    PyObject* bools[kMostTensors];
    for (Py_ssize_t i = 0; i < count; ++i) bools[i] = wanting >> i & 1 ? Py_True : Py_False;
    PyObject* made = tuple_of(bools, count);
    if (place && made) {
        Py_INCREF(made);
        *place = made;
    }
    return made;
}

// (graph, op, numbers, *inputs) to the autograd.Function. Whatever torch is given costs it questions, what is no tensor
// most of all: so it gets one object for all that, and the tensors that want a gradient.
static PyObject* with_gradient(PyObject* const* args, PyObject* numbers, Py_ssize_t count, unsigned wanting,
                               Found* found) {
    const Py_ssize_t inputs = count - 3;
    PyObject* given[1 + kMostTensors];
    Py_ssize_t used = 1;
    for (Py_ssize_t i = 0; i < inputs; ++i) {
        if (wanting >> i & 1) given[used++] = args[3 + i];
    }
    PyObject* needs = bools_of(wanting, inputs);
    PyObject* what = needs ? PyTuple_Pack(4, args[0], args[1], numbers, needs) : NULL;
    given[0] = what;
    PyObject* arguments = what ? tuple_of(given, used) : NULL;
    pending.found = found;
    pending.what = what;
    pending.inputs = args + 3;
    PyObject* result = arguments ? PyObject_CallObject(function_apply, arguments) : NULL;
    pending.found = NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(what);
    Py_XDECREF(needs);
    return result;
}

// apply(graph, op, (numbers, bare), *inputs) -> the first result of a run: with the numbers `bare` where no gradient
// follows, else through the autograd.Function. None where Python has to look: types are cast, a mode or functorch looks on,
// or no call is prepared for tensors like these.
PyObject* apply(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    (void)self;
    if (!tensors_are_seen() || !function_apply || count < 4 || count > 3 + kMostTensors) Py_RETURN_NONE;
    const int looked_at = modes_are_on();
    const int cast = looked_at == 0 ? autocast_is_on() : looked_at;
    int grads = cast == 0 ? gradients_are_on() : cast;
    if (looked_at < 0 || cast < 0 || grads < 0) return NULL;
    if (looked_at || cast) Py_RETURN_NONE;
    if (grads) grads = wants_gradient(args + 3, count - 3);
    if (grads < 0) Py_RETURN_NONE;
    PyObject* numbers = PyTuple_GetItem(args[2], grads ? 0 : 1);
    if (!numbers) return NULL;
    if (grads) {
        const int watched = functorch_is_on();
        if (watched < 0) return NULL;
        if (watched) Py_RETURN_NONE;
    }
    Found found;
    if (!find_prepared(args[0], args[1], numbers, args + 3, count - 3, &found)) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    if (!grads) return first_of(run_found(&found, args + 3, args[0]));
    PyObject* result = with_gradient(args, numbers, count, (unsigned)grads, &found);
    Py_XDECREF(found.entry);
    return result;
}

// Which tensors a backward wants to see: indices of inputs, -1 - i for results, None for nothing. A new reference.
static PyObject* saves_of_kind(PyObject* needs, PyObject* op, PyObject* numbers, Py_ssize_t results) {
    PyObject* number = PyLong_FromVoidPtr(numbers);
    PyObject* key = number ? PyTuple_Pack(3, op, number, needs) : NULL;
    PyObject* known = key ? PyDict_GetItemWithError(saves, key) : NULL;
    if (known) {
        known = PyTuple_GetItem(known, 1);  // (numbers, indices)
        Py_XINCREF(known);
    } else if (key && !PyErr_Occurred()) {
        known = PyObject_CallFunction(find_saves, "OOOOn", key, op, numbers, needs, results);
    }
    Py_XDECREF(key);
    Py_XDECREF(number);
    return known;
}

// The same, of kinds that were asked for before; under the interpreter's lock.
static PyObject* saves_of(PyObject* all, PyObject* op, PyObject* numbers, Py_ssize_t results) {
    enum { kPlaces = 64 };
    static struct {
        PyObject *op, *numbers, *indices;  // references: what is alive keeps its address
        Py_ssize_t inputs, results;
        unsigned needs;
    } kinds[kPlaces];
    const Py_ssize_t inputs = PyTuple_Size(all);
    unsigned needs = 0;
    for (Py_ssize_t i = 0; i < inputs; ++i) {
        if (PyTuple_GetItem(all, i) == Py_True) needs |= 1u << i;
    }
    const size_t place = (((uintptr_t)numbers >> 4) ^ ((uintptr_t)op >> 5) ^ needs) % kPlaces;
    PyObject* found = kinds[place].indices;
    if (found && kinds[place].op == op && kinds[place].numbers == numbers && kinds[place].needs == needs &&
        kinds[place].inputs == inputs && kinds[place].results == results) {
        Py_INCREF(found);
        return found;
    }
    found = saves_of_kind(all, op, numbers, results);
    if (!found) return NULL;
    PyObject* const gone[] = {kinds[place].op, kinds[place].numbers, kinds[place].indices};
    Py_INCREF(op);
    Py_INCREF(numbers);
    Py_INCREF(found);
    kinds[place].op = op;
    kinds[place].numbers = numbers;
    kinds[place].indices = found;
    kinds[place].inputs = inputs;
    kinds[place].results = results;
    kinds[place].needs = needs;
    for (int i = 0; i < 3; ++i) Py_XDECREF(gone[i]);
    return found;
}

// Hands what a backward wants to see to torch. 0 and an exception if that fails.
static int save(PyObject* ctx, PyObject* indices, PyObject* const* inputs, PyObject* results) {
    const Py_ssize_t size = PyTuple_Size(indices);
    PyObject* saved = PyTuple_New(size);
    int tensors = 0, done = saved != NULL;
    for (Py_ssize_t i = 0; done && i < size; ++i) {
        PyObject* index = PyTuple_GetItem(indices, i);
        PyObject* tensor = Py_None;
        if (index != Py_None) {
            const long at = PyLong_AsLong(index);
            tensor = at < 0 ? PyTuple_GetItem(results, -1 - at) : inputs[at];
        }
        done = tensor != NULL;
        tensors += tensor != Py_None;
        Py_XINCREF(tensor);
        PyTuple_SetItem(saved, i, tensor);
    }
    // Of nothing backward() makes as many None itself.
    if (done && tensors > 0) done = PyObject_SetAttr(ctx, to_save_name, saved) == 0;
    Py_XDECREF(saved);
    return done;
}

// forward(ctx, what, *inputs that want a gradient) of the autograd.Function: runs, and says what is saved. `what` is (graph,
// op, numbers, needs), which becomes the state, and a tuple of all inputs where this is not apply()'s doing. `needs` has a
// bool for each input.
PyObject* forward(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    enum { kState = 4 };
    PyObject* parts[kState + 1] = {NULL};
    const Py_ssize_t size = count >= 2 && PyTuple_Check(args[1]) ? PyTuple_Size(args[1]) : 0;
    for (Py_ssize_t i = 0; i < size && i <= kState; ++i) parts[i] = PyTuple_GetItem(args[1], i);
    Found* found = size == kState && pending.what == args[1] ? pending.found : NULL;
    pending.found = NULL;
    const Py_ssize_t inputs = size >= kState ? PyTuple_Size(parts[3]) : -1;
    if (inputs < 0 || inputs > kMostTensors || (!found && (size != kState + 1 || PyTuple_Size(parts[4]) != inputs))) {
        PyErr_SetString(PyExc_TypeError, "expected forward(ctx, (graph, op, numbers, needs, inputs), *inputs)");
        return NULL;
    }
    PyObject* ctx = args[0];
    PyObject* run[3 + kMostTensors] = {parts[0], parts[1], parts[2]};
    for (Py_ssize_t i = 0; i < inputs; ++i) run[3 + i] = found ? pending.inputs[i] : PyTuple_GetItem(parts[4], i);
    PyObject* results = found ? run_found(found, run + 3, parts[0]) : run_tensors(self, run, 3 + inputs);
    if (results == Py_None) {
        Py_DECREF(results);
        PyObject* all = tuple_of(run, 3 + inputs);
        results = all ? PyObject_CallObject(run_in_python, all) : NULL;
        Py_XDECREF(all);
    }
    if (!results) return NULL;
    PyObject* indices = saves_of(parts[3], parts[1], parts[2], PyTuple_Size(results));
    int done = indices && save(ctx, indices, run + 3, results);
    PyObject* state = done ? PyTuple_GetSlice(args[1], 0, kState) : NULL;  // itself, where that is all
    done = state && PyObject_SetAttr(ctx, state_name, state) == 0;
    Py_XDECREF(state);
    Py_XDECREF(indices);
    if (done) return first_of(results);
    Py_DECREF(results);
    return NULL;
}

// The name of an operation's gradient that is one run, of attention's kinds; NULL for others.
static PyObject* attention_gradient(PyObject* op) {
    if (PyUnicode_CompareWithASCIIString(op, "gat") == 0) return gat_grad_name;
    if (PyUnicode_CompareWithASCIIString(op, "agnn") == 0) return agnn_grad_name;
    if (PyUnicode_CompareWithASCIIString(op, "attention") == 0) return attention_grad_name;
    return NULL;
}

// Whether the features of a sum are all that wants a gradient: reduce is the first of `numbers`.
static int is_sum_of_features(PyObject* numbers, PyObject* needs) {
    PyObject* reduce = PyTuple_GetItem(numbers, 0);
    if (!reduce || PyUnicode_CompareWithASCIIString(reduce, "sum") != 0) return 0;
    return PyTuple_Size(needs) == 3 && PyTuple_GetItem(needs, 0) == Py_True && PyTuple_GetItem(needs, 1) == Py_False &&
           PyTuple_GetItem(needs, 2) == Py_False;
}

// The gradients of a run, as FORMULAS of gnntune.torch._gradients has them for the kinds that are one run again. None where
// Python has to do it.
static PyObject* gradients(PyObject* self, PyObject* state, PyObject* saved, PyObject* grad) {
    enum { kMostArguments = 3 + kMostTensors };
    PyObject* run[kMostArguments] = {PyTuple_GetItem(state, 0), NULL, PyTuple_GetItem(state, 2)};
    PyObject* op = PyTuple_GetItem(state, 1);
    PyObject* needs = PyTuple_GetItem(state, 3);
    const Py_ssize_t count = PyTuple_Size(saved);
    Py_ssize_t used = 3;
    if (!run[0] || !op || !run[2] || !needs) return NULL;
    PyObject* gradient = attention_gradient(op);
    if (gradient && (count == 5 || count == 6)) {  // three inputs, perhaps the seed of dropout, y, lse
        run[1] = gradient;
        for (Py_ssize_t i = 0; i < 3; ++i) run[used++] = PyTuple_GetItem(saved, i);
        run[used++] = grad;
        run[used++] = PyTuple_GetItem(saved, count - 2);
        run[used++] = PyTuple_GetItem(saved, count - 1);
        if (count == 6) run[used++] = PyTuple_GetItem(saved, 3);
    } else if ((count == 4 || count == 0) && PyUnicode_CompareWithASCIIString(op, "spmm") == 0 &&
               is_sum_of_features(run[2], needs)) {
        run[1] = spmm_name;
        run[2] = sum_reversed;
        run[used++] = grad;
        run[used++] = count ? PyTuple_GetItem(saved, 1) : Py_None;
        run[used++] = count ? PyTuple_GetItem(saved, 2) : Py_None;
    } else {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    PyObject* results = run_tensors(self, run, used);
    if (!results || results == Py_None) return results;
    const Py_ssize_t found = PyTuple_Size(results), inputs = PyTuple_Size(needs);
    PyObject* given[1 + kMostTensors] = {Py_None};  // what forward() got first wants none
    Py_ssize_t wanted = 1;
    for (Py_ssize_t i = 0; i < inputs; ++i) {
        if (PyTuple_GetItem(needs, i) == Py_True) given[wanted++] = i < found ? PyTuple_GetItem(results, i) : Py_None;
    }
    PyObject* all = tuple_of(given, wanted);
    Py_DECREF(results);
    return all;
}

// backward(ctx, grad) of the autograd.Function, as a method of its node.
static PyObject* backward(PyObject* ctx, PyObject* const* args, Py_ssize_t count) {
    const int twice = gradients_are_on();  // a gradient of the gradient: Python refuses in words
    if (twice < 0) return NULL;
    PyObject *found = NULL, *saved = NULL;
    if (count == 1 && !twice && PyList_Size(watchers) == 0) {
        PyObject* state = PyObject_GetAttr(ctx, state_name);
        saved = state ? PyObject_GetAttr(ctx, saved_tensors_name) : NULL;
        found = saved ? gradients(NULL, state, saved, args[0]) : NULL;
        Py_XDECREF(state);
        if (found != Py_None) {
            Py_XDECREF(saved);
            return found;
        }
        Py_DECREF(found);
    }
    // A checkpoint gives what was saved once: it goes along.
    found = call_with(backward_in_python, ctx, args, count, saved);
    Py_XDECREF(saved);
    return found;
}

// backward_of(type) -> backward() as a method of that type of nodes.
PyObject* backward_of(PyObject* self, PyObject* type) {
    (void)self;
    static PyMethodDef method = {"apply", (PyCFunction)(void (*)(void))backward, METH_FASTCALL, NULL};
    return method_of_type(type, &method);
}
