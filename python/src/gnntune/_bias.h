// The bias of a layer, and its gradient, of plain tensors: by the library where it can, which starts a kernel in less of
// the host's time than torch does, else by torch.
#ifndef GNNTUNE_BIAS_H
#define GNNTUNE_BIAS_H

#include "_tensors.h"

// x [n, k] plus the bias [k] in each row: a new tensor. NULL and an exception if that fails.
PyObject* with_bias(PyObject* graph, PyObject* x, PyObject* bias);
// The same in place. 0 and an exception if that fails.
int add_bias(PyObject* graph, PyObject* x, PyObject* bias);
// sum += a, of one shape. 0 and an exception if that fails.
int add_tensor(PyObject* graph, PyObject* sum, PyObject* a);
// The sum of the rows of a tensor [n, k]: a new tensor [k]. NULL and an exception if that fails.
PyObject* bias_gradient(PyObject* graph, PyObject* grad);

#endif
