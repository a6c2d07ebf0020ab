// Tiled graphs of gnntune.h for Python, beside _native.c and as that: types are checked here, and nothing else.
#include "_native.h"

#include <gnntune/gnntune.h>
#include <string.h>

// (op, k, ..., config): what Problem.native() returns. Borrows the text of config from the tuple.
static int problem_of(PyObject* tuple, gnntune_problem* problem) {
    const gnntune_problem defaults = GNNTUNE_PROBLEM_INIT;
    *problem = defaults;
    long long limit;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "expected what Problem.native() has returned");
        return 0;
    }
    if (!PyArg_ParseTuple(tuple, "iiiiiippppiiddLz", &problem->op, &problem->k, &problem->heads, &problem->dtype,
                          &problem->reduce, &problem->direction, &problem->weighted, &problem->self_loop,
                          &problem->deterministic, &problem->allow_sampling, &problem->policy,
                          &problem->operand_alignment, &problem->max_error, &problem->expected_calls, &limit,
                          &problem->config)) {
        return 0;
    }
    if (limit >= 0) problem->workspace_limit_bytes = (uint64_t)limit;
    return 1;
}

// (row_ptr, wide_offsets, col_idx, wide_ids, n_rows, n_cols, m, trusted) and (place, pin, tile_edges, host limit, backend
// limit), limits of -1 being none.
static int description_of(PyObject* graph, PyObject* tiles, gnntune_csr* csr, gnntune_tiling* tiling) {
    const gnntune_csr no_graph = GNNTUNE_CSR_INIT;
    const gnntune_tiling no_tiling = GNNTUNE_TILING_INIT;
    *csr = no_graph;
    *tiling = no_tiling;
    csr->memory = GNNTUNE_HOST;
    PyObject *row_ptr, *col_idx;
    long long n_rows, n_cols, m, edges, host, backend;
    if (!PyTuple_Check(graph) || !PyTuple_Check(tiles)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple that describes a graph, and one of tiles");
        return 0;
    }
    if (!PyArg_ParseTuple(graph, "OpOpLLLp", &row_ptr, &csr->offset_type, &col_idx, &csr->id_type, &n_rows, &n_cols, &m,
                          &csr->trusted) ||
        !PyArg_ParseTuple(tiles, "ipLLL", &tiling->place, &tiling->pin, &edges, &host, &backend)) {
        return 0;
    }
    csr->row_ptr = to_pointer(row_ptr);
    csr->col_idx = to_pointer(col_idx);
    csr->n_rows = n_rows;
    csr->n_cols = n_cols;
    csr->m = m;
    tiling->tile_edges = edges;
    if (host >= 0) tiling->host_limit_bytes = (uint64_t)host;
    if (backend >= 0) tiling->backend_limit_bytes = (uint64_t)backend;
    return !PyErr_Occurred();
}

// tiled_memory(context, graph, tiling, problem or None) -> (host_bytes, backend_bytes, tiles, streamed)
PyObject* tiled_memory(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *context, *graph, *tiles, *wanted;
    gnntune_csr csr;
    gnntune_tiling tiling;
    gnntune_problem problem;
    if (!PyArg_ParseTuple(args, "OOOO", &context, &graph, &tiles, &wanted)) return NULL;
    gnntune_context* c = to_pointer(context);
    if (PyErr_Occurred() || !description_of(graph, tiles, &csr, &tiling)) return NULL;
    if (wanted != Py_None && !problem_of(wanted, &problem)) return NULL;
    uint64_t host = 0, backend = 0;
    int64_t count = 0;
    int32_t streamed = 0;
    gnntune_status status;
    const gnntune_problem* counted = wanted == Py_None ? NULL : &problem;
    Py_BEGIN_ALLOW_THREADS status =
        gnntune_tiled_memory(c, &csr, &tiling, counted, &host, &backend, &count, &streamed);
    Py_END_ALLOW_THREADS if (status != GNNTUNE_OK) return raise_status(status);
    PyObject* is_streamed = PyBool_FromLong(streamed);
    return Py_BuildValue("KKLN", (unsigned long long)host, (unsigned long long)backend, (long long)count, is_streamed);
}

// tiled_graph(context, graph, tiling, stream) -> handle
PyObject* tiled_graph(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *context, *description, *tiles, *stream;
    gnntune_csr csr;
    gnntune_tiling tiling;
    if (!PyArg_ParseTuple(args, "OOOO", &context, &description, &tiles, &stream)) return NULL;
    gnntune_context* c = to_pointer(context);
    gnntune_stream s = to_pointer(stream);
    if (PyErr_Occurred() || !description_of(description, tiles, &csr, &tiling)) return NULL;
    gnntune_tiled_graph* graph = NULL;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_tiled_graph_create(c, &csr, &tiling, s, &graph);
    Py_END_ALLOW_THREADS return status == GNNTUNE_OK ? from_pointer(graph) : raise_status(status);
}

PyObject* tiled_graph_destroy(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_tiled_graph* graph = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS gnntune_tiled_graph_destroy(graph);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* tiled_graph_fingerprint(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_tiled_graph* graph = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    char digits[33];
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_tiled_graph_fingerprint(graph, digits);
    Py_END_ALLOW_THREADS return status == GNNTUNE_OK ? PyUnicode_FromString(digits) : raise_status(status);
}

// tiled_plan(graph, stream, problem) -> handle
PyObject* tiled_plan(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *graph, *stream, *wanted;
    gnntune_problem problem;
    if (!PyArg_ParseTuple(args, "OOO", &graph, &stream, &wanted)) return NULL;
    gnntune_tiled_graph* g = to_pointer(graph);
    gnntune_stream s = to_pointer(stream);
    if (PyErr_Occurred() || !problem_of(wanted, &problem)) return NULL;
    gnntune_tiled_plan* plan = NULL;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_tiled_plan_create(g, &problem, s, &plan);
    Py_END_ALLOW_THREADS return status == GNNTUNE_OK ? from_pointer(plan) : raise_status(status);
}

PyObject* tiled_plan_destroy(PyObject* self, PyObject* handle) {
    (void)self;
    gnntune_tiled_plan* plan = to_pointer(handle);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS gnntune_tiled_plan_destroy(plan);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* tiled_plan_explain(PyObject* self, PyObject* handle) {
    (void)self;
    return text_of((text_function)gnntune_tiled_plan_explain, handle);
}

// tiled_run(plan, stream, x, edge_weight, y): arrays are addresses, tensors or None.
PyObject* tiled_run(PyObject* self, PyObject* args) {
    (void)self;
    PyObject *plan, *stream, *x, *weight, *y;
    if (!PyArg_ParseTuple(args, "OOOOO", &plan, &stream, &x, &weight, &y)) return NULL;
    gnntune_operands operands = GNNTUNE_OPERANDS_INIT;
    void *from, *edges;
    if (!address_of(x, &from) || !address_of(weight, &edges) || !address_of(y, &operands.y)) return NULL;
    operands.x = from;
    operands.edge_weight = edges;
    const gnntune_tiled_plan* p = to_pointer(plan);
    gnntune_stream s = to_pointer(stream);
    if (PyErr_Occurred()) return NULL;
    gnntune_status status;
    Py_BEGIN_ALLOW_THREADS status = gnntune_tiled_run(p, &operands, s);
    Py_END_ALLOW_THREADS if (status != GNNTUNE_OK) return raise_status(status);
    Py_RETURN_NONE;
}
