// Products of matrices in torch's tensors without Python, where torch has C functions for them (_shim.c); else by its
// methods, which say in words what does not fit, too.
#include "_products.h"

#include <string.h>

#include "_shim.h"

static PyObject *mm_name, *addmm_name, *addmm__name, *sum_name, *add__name;
static PyObject* zero;  // a dimension

int intern_product_names(void) {
    const struct {
        PyObject** name;
        const char* text;
    } kNames[] = {
        {&mm_name, "mm"}, {&addmm_name, "addmm"}, {&addmm__name, "addmm_"}, {&sum_name, "sum"}, {&add__name, "add_"},
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (!(*kNames[i].name = PyUnicode_InternFromString(kNames[i].text))) return 0;
    }
    zero = PyLong_FromLong(0);
    return zero != NULL;
}

// ---- Matrices ----

static int64_t stride_of(const DlTensor* t, int32_t dimension) {
    if (t->strides) return t->strides[dimension];
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; d > dimension; --d) stride *= t->shape[d];
    return stride;
}

int matrix_of(PyObject* tensor, Matrix* out) {
    DlTensor seen;
    if (!look_at_tensor(tensor, &seen) || seen.ndim != 2) return 0;
    *out = (Matrix){
        tensor, {seen.shape[0], seen.shape[1]}, {stride_of(&seen, 0), stride_of(&seen, 1)}, seen.dtype, seen.device, 1};
    return 1;
}

int matrix_shaped(PyObject* tensor, int64_t rows, int64_t columns, Matrix* out) {
    DlTensor seen;
    // Where memory is looked at in another shape nobody else asks how much there is.
    if (!look_at_tensor(tensor, &seen) || !is_contiguous(&seen) || elements_of(&seen) != rows * columns) return 0;
    *out = (Matrix){tensor, {rows, columns}, {columns, 1}, seen.dtype, seen.device, 0};
    return 1;
}

Matrix turned(Matrix matrix) {
    const Matrix other = {matrix.tensor,
                          {matrix.size[1], matrix.size[0]},
                          {matrix.stride[1], matrix.stride[0]},
                          matrix.dtype,
                          matrix.device,
                          0};
    return other;
}

static int is_on_gpu(DlDevice device) {
    return device.device_type == kDlCuda;
}

// The matrix as torch's functions take it; *view is to be freed unless it is NULL. NULL if that fails.
static void* open_matrix(const Matrix* matrix, void** view) {
    void* whole = shim_tensor_of(matrix->tensor);
    *view = matrix->is_tensor ? NULL : shim_view(whole, 2, matrix->size, matrix->stride);
    return matrix->is_tensor ? whole : *view;
}

// The same as a Python object: a new reference.
static PyObject* object_of(const Matrix* matrix) {
    if (matrix->is_tensor) {
        Py_INCREF(matrix->tensor);
        return matrix->tensor;
    }
    return PyObject_CallMethod(matrix->tensor, "as_strided", "((LL)(LL))", (long long)matrix->size[0],
                               (long long)matrix->size[1], (long long)matrix->stride[0], (long long)matrix->stride[1]);
}

// out = summand + a b, or a b where the summand is NULL. 0, and no exception, if Python has to do it.
static int multiply(void* out, void* summand, const Matrix* a, const Matrix* b) {
    void *view_a = NULL, *view_b = NULL;
    void* first = open_matrix(a, &view_a);
    void* second = first ? open_matrix(b, &view_b) : NULL;
    const int on_gpu = is_on_gpu(a->device);
    int done = second != NULL;
    if (done) {
        done =
            summand ? shim_add_product(on_gpu, out, summand, first, second) : shim_product(on_gpu, out, first, second);
    }
    if (view_a) shim_free(view_a);
    if (view_b) shim_free(view_b);
    return done;
}

// What torch would refuse is left to its methods, which have the words.
static int fits(const Matrix* a, const Matrix* b) {
    return shim_multiplies() && a->size[1] == b->size[0] && memcmp(&a->dtype, &b->dtype, sizeof a->dtype) == 0 &&
           memcmp(&a->device, &b->device, sizeof a->device) == 0;
}

static PyObject* allocated(const Matrix* kind, int32_t ndim, const int64_t* shape, void** tensor) {
    void* address;
    if (!shim_allocate(kind->dtype.code, kind->dtype.bits, is_on_gpu(kind->device), kind->device.device_id, ndim, shape,
                       tensor, &address)) {
        return NULL;
    }
    PyObject* made = shim_wrap(*tensor);
    if (!made) {
        PyErr_Clear();
        return NULL;
    }
    *tensor = shim_tensor_of(made);
    return made;
}

PyObject* product(Matrix a, Matrix b, PyObject* bias) {
    if (fits(&a, &b)) {
        const int64_t shape[2] = {a.size[0], b.size[1]};
        void* out;
        PyObject* made = allocated(&a, 2, shape, &out);
        if (made && multiply(out, bias == Py_None ? NULL : shim_tensor_of(bias), &a, &b)) return made;
        Py_XDECREF(made);
    }
    PyObject* first = object_of(&a);
    PyObject* second = first ? object_of(&b) : NULL;
    PyObject* made = NULL;
    if (second) {
        made = bias == Py_None ? PyObject_CallMethodObjArgs(first, mm_name, second, NULL)
                               : PyObject_CallMethodObjArgs(bias, addmm_name, first, second, NULL);
    }
    Py_XDECREF(second);
    Py_XDECREF(first);
    return made;
}

int add_product(PyObject* sum, Matrix a, Matrix b) {
    Matrix whole;
    if (fits(&a, &b) && matrix_of(sum, &whole) && whole.size[0] == a.size[0] && whole.size[1] == b.size[1]) {
        void* out = shim_tensor_of(sum);
        if (multiply(out, out, &a, &b)) return 1;
    }
    PyObject* first = object_of(&a);
    PyObject* second = first ? object_of(&b) : NULL;
    PyObject* done = second ? PyObject_CallMethodObjArgs(sum, addmm__name, first, second, NULL) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(second);
    Py_XDECREF(first);
    return done != NULL;
}

PyObject* shaped(PyObject* tensor, int64_t rows, int64_t heads, int64_t k) {
    const int64_t sizes[3] = {rows, heads, k}, strides[3] = {k ? heads * k : heads, k ? k : 1, 1};
    DlTensor seen;
    // What a hook gave back for a tensor that was saved may stand otherwise.
    if (shim_multiplies() && look_at_tensor(tensor, &seen) && is_contiguous(&seen) &&
        elements_of(&seen) == rows * heads * (k ? k : 1)) {
        void* view = shim_view(shim_tensor_of(tensor), k ? 3 : 2, sizes, strides);
        if (view) return shim_wrap(view);
    }
    return k ? PyObject_CallMethod(tensor, "reshape", "LLL", (long long)rows, (long long)heads, (long long)k)
             : PyObject_CallMethod(tensor, "reshape", "LL", (long long)rows, (long long)heads);
}

// ---- Sums ----

PyObject* sum_of_rows(PyObject* tensor) {
    return PyObject_CallMethodObjArgs(tensor, sum_name, zero, NULL);
}

PyObject* sum_of(PyObject* a, PyObject* b) {
    DlTensor seen;
    if (shim_multiplies() && look_at_tensor(a, &seen)) {
        void* sum = shim_sum(is_on_gpu(seen.device), shim_tensor_of(a), shim_tensor_of(b));
        if (sum) return shim_wrap(sum);
    }
    return PyNumber_Add(a, b);
}

int add_to(PyObject* sum, PyObject* a) {
    PyObject* done = PyObject_CallMethodObjArgs(sum, add__name, a, NULL);
    Py_XDECREF(done);
    return done != NULL;
}
