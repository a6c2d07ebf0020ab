// Scores of GAT, and their gradients, of plain tensors: features [n, heads, k], vectors of attention [1, heads, k].
#ifndef GNNTUNE_SCORES_H
#define GNNTUNE_SCORES_H

#include "_tensors.h"

// Whether the graph's context computes where the features lie; -1 and an exception if it has none.
int context_is_there(PyObject* graph, const DlTensor* features);
// The gnntune_dtype of floating point elements of 32 or 16 bits.
int32_t element_type(DlType type);

// New tensors [n, heads] of the products with att_row and with att_col. 0 and an exception if that fails.
int scores_of(PyObject* graph, PyObject* features, PyObject* att_row, PyObject* att_col, PyObject** row,
              PyObject** col);

// From the gradients of both: grad_features += what they add to it, unless that is NULL, and new tensors for those of the
// vectors, of which NULL is not wanted. 0 and an exception if that fails.
int gradients_of_scores(PyObject* graph, PyObject* features, PyObject* att_row, PyObject* att_col, PyObject* grad_row,
                        PyObject* grad_col, PyObject* grad_features, PyObject** grad_att_row, PyObject** grad_att_col);

#endif
