// Products of matrices in torch's tensors, and the few sums that layers have beside them: _layers.c.
#ifndef GNNTUNE_PRODUCTS_H
#define GNNTUNE_PRODUCTS_H

#include "_tensors.h"

// A matrix in the memory of a tensor.
typedef struct {
    PyObject* tensor;  // borrowed
    int64_t size[2], stride[2];
    DlType dtype;
    DlDevice device;
    int is_tensor;  // it is the tensor as that is
} Matrix;

int intern_product_names(void);

// A tensor of two dimensions. 0, and no exception, for anything else.
int matrix_of(PyObject* tensor, Matrix* out);
// All of a contiguous tensor as [rows, columns].
int matrix_shaped(PyObject* tensor, int64_t rows, int64_t columns, Matrix* out);
Matrix turned(Matrix matrix);

// All of a contiguous tensor as three dimensions, or two if the last is 0, for what nobody sees who may write to it: torch
// does not know that both are one memory. NULL and an exception if torch fails.
PyObject* shaped(PyObject* tensor, int64_t rows, int64_t heads, int64_t k);

// a b, plus the bias in each row if that is not None: a new tensor. NULL and an exception if torch fails.
PyObject* product(Matrix a, Matrix b, PyObject* bias);
// sum += a b. 0 and an exception if torch fails.
int add_product(PyObject* sum, Matrix a, Matrix b);

// The sum of the rows of a tensor; a + b: new tensors. NULL and an exception if torch fails.
PyObject* sum_of_rows(PyObject* tensor);
PyObject* sum_of(PyObject* a, PyObject* b);
// sum += a. 0 and an exception if torch fails.
int add_to(PyObject* sum, PyObject* a);

#endif
