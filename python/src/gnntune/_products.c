// Products of matrices in torch's tensors without Python, where torch has C functions for them (_shim.c); else by its
// methods, which say in words what does not fit, too.
#include "_products.h"

#include <string.h>

#include "_shim.h"

static PyObject *mm_name, *addmm_name, *addmm__name, *sum_name, *add__name, *unsqueeze_name, *addcmul__name;
static PyObject *zero, *minus_one;  // dimensions

int intern_product_names(void) {
    const struct {
        PyObject** name;
        const char* text;
    } kNames[] = {
        {&mm_name, "mm"},     {&addmm_name, "addmm"},         {&addmm__name, "addmm_"},     {&sum_name, "sum"},
        {&add__name, "add_"}, {&unsqueeze_name, "unsqueeze"}, {&addcmul__name, "addcmul_"},
    };
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
        if (!(*kNames[i].name = PyUnicode_InternFromString(kNames[i].text))) return 0;
    }
    zero = PyLong_FromLong(0);
    minus_one = PyLong_FromLong(-1);
    return zero && minus_one;
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
    if (!look_at_tensor(tensor, &seen)) return 0;
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
    if (shim_multiplies()) {
        void* view = shim_view(shim_tensor_of(tensor), k ? 3 : 2, sizes, strides);
        if (view) return shim_wrap(view);
    }
    return k ? PyObject_CallMethod(tensor, "view", "LLL", (long long)rows, (long long)heads, (long long)k)
             : PyObject_CallMethod(tensor, "view", "LL", (long long)rows, (long long)heads);
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

static PyObject* times(PyObject* a, PyObject* b) {
    DlTensor seen;
    if (shim_multiplies() && look_at_tensor(a, &seen)) {
        void* made = shim_times(is_on_gpu(seen.device), shim_tensor_of(a), shim_tensor_of(b));
        if (made) return shim_wrap(made);
    }
    return PyNumber_Multiply(a, b);
}

int add_to(PyObject* sum, PyObject* a) {
    PyObject* done = PyObject_CallMethodObjArgs(sum, add__name, a, NULL);
    Py_XDECREF(done);
    return done != NULL;
}

// ---- Scores ----

// Features of more than one head on a GPU are multiplied by att in as many products, which is one kernel where a product
// by element and a sum are two. On a CPU torch would loop over the heads.
static PyObject* scores_by_head(PyObject* features, PyObject* att, const DlTensor* seen) {
    const int64_t n = seen->shape[0], heads = seen->shape[1], k = seen->shape[2];
    const int64_t shape[2] = {n, heads};
    const Matrix kind = {features, {0, 0}, {0, 0}, seen->dtype, seen->device, 0};
    void* whole;
    PyObject* made = allocated(&kind, 2, shape, &whole);
    if (!made) return NULL;
    const int64_t sizes[3][3] = {{heads, n, 1}, {heads, n, k}, {heads, k, 1}};
    const int64_t strides[3][3] = {{1, heads, 1}, {k, heads * k, 1}, {k, 1, 1}};
    void* const tensors[3] = {whole, shim_tensor_of(features), shim_tensor_of(att)};
    void* views[3] = {NULL, NULL, NULL};
    int done = 1;
    for (int i = 0; done && i < 3; ++i) {
        views[i] = shim_view(tensors[i], 3, sizes[i], strides[i]);
        done = views[i] != NULL;
    }
    done = done && shim_products(is_on_gpu(seen->device), views[0], views[1], views[2]);
    for (int i = 0; i < 3; ++i) {
        if (views[i]) shim_free(views[i]);
    }
    if (!done) Py_CLEAR(made);
    return made;
}

PyObject* scores_of(PyObject* features, PyObject* att) {
    DlTensor seen;
    Matrix a, b;
    if (shim_multiplies() && look_at_tensor(features, &seen) && seen.ndim == 3) {
        if (seen.shape[1] == 1 && matrix_shaped(features, seen.shape[0], seen.shape[2], &a) &&
            matrix_shaped(att, 1, seen.shape[2], &b)) {
            return product(a, turned(b), Py_None);
        }
        PyObject* made = is_on_gpu(seen.device) ? scores_by_head(features, att, &seen) : NULL;
        if (made) return made;
    }
    PyObject* products = times(features, att);
    PyObject* made = products ? PyObject_CallMethodObjArgs(products, sum_name, minus_one, NULL) : NULL;
    Py_XDECREF(products);
    return made;
}

// [rows, heads] as [rows, heads, 1].
static PyObject* with_width(PyObject* tensor) {
    DlTensor seen;
    if (look_at_tensor(tensor, &seen) && seen.ndim == 2) return shaped(tensor, seen.shape[0], seen.shape[1], 1);
    return PyObject_CallMethodObjArgs(tensor, unsqueeze_name, minus_one, NULL);
}

PyObject* gradient_of_att(PyObject* grad, PyObject* features) {
    DlTensor seen;
    Matrix a, b;
    PyObject* made = NULL;
    if (shim_multiplies() && look_at_tensor(features, &seen) && seen.ndim == 3 && seen.shape[1] == 1 &&
        matrix_of(grad, &a) && matrix_shaped(features, seen.shape[0], seen.shape[2], &b)) {
        PyObject* row = product(turned(a), b, Py_None);
        made = row ? PyObject_CallMethodObjArgs(row, unsqueeze_name, zero, NULL) : NULL;
        Py_XDECREF(row);
        return made;
    }
    PyObject* wide = with_width(grad);
    PyObject* products = wide ? times(wide, features) : NULL;
    if (products) made = PyObject_CallMethodObjArgs(products, sum_name, zero, Py_True, NULL);  // keeps the dimension
    Py_XDECREF(products);
    Py_XDECREF(wide);
    return made;
}

int add_gradient_of_scores(PyObject* grad_features, PyObject* grad, PyObject* att) {
    PyObject* wide = with_width(grad);
    PyObject* done = wide ? PyObject_CallMethodObjArgs(grad_features, addcmul__name, wide, att, NULL) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(wide);
    return done != NULL;
}
