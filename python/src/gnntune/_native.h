// What the files of gnntune._native share. _native.c and _tiled.c know the structs of gnntune.h,
// _tensors.c those of DLPack.
#ifndef GNNTUNE_NATIVE_H
#define GNNTUNE_NATIVE_H

#define Py_LIMITED_API 0x030a0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

// ---- _native.c ----

enum { kMostArrays = 28 };  // of a run: those of gnntune_operands

// All of a run but its arrays; what prepare() returns has one inside.
typedef struct Call Call;

// The Call in what prepare() has returned; it lives as long as the object. NULL and an exception for anything else.
const Call* call_of(PyObject* object);

// Runs it with as many addresses as prepare() was given names. 0 and an exception if the library refuses.
int run_call(const Call* call, void* const* arrays, void* workspace, void* stream);

// The same on a plan that was not there when prepare() was called, and the bytes of workspace that it needs.
int run_plan(const Call* call, const void* plan, void* const* arrays, void* workspace, size_t workspace_bytes,
             void* stream);
size_t workspace_of(const void* plan);

// (op, k, heads, dtype, reduce, direction, weighted, self_loop, deterministic, allow_sampling, policy, operand_alignment,
// max_error, expected_calls, workspace_limit_bytes, config): what Problem.native() returns. Borrows the text of config from
// the tuple. 0 and an exception for anything else.
struct gnntune_problem;
int read_problem(PyObject* tuple, struct gnntune_problem* problem);

// The problem in arguments of plan_create() behind the stream: bytes, for make_plan(). None where it names a config.
PyObject* problem_of(PyObject* self, PyObject* args);

// A plan. NULL, without an exception, where Python has to make it: nothing supports the problem, or runs may not overlap.
void* make_plan(void* context, void* graph, PyObject* problem, void* stream);
PyObject* plan_destroyer(void);  // plan_destroy() of the module

// The address of an operand: None, an integer, or an object with data_ptr(). 0 and an exception for anything else.
int address_of(PyObject* object, void** out);

// Raises the exception of a gnntune_status with the library's sentence; NULL.
PyObject* raise_status(int32_t status);
// A handle or an address as a Python integer, and back: 0 and an exception for anything else.
PyObject* from_pointer(const void* pointer);
void* to_pointer(PyObject* object);
// Text of a function that works as snprintf does.
typedef size_t (*text_function)(const void* handle, char* buffer, size_t size);
PyObject* text_of(text_function function, PyObject* handle);

// ---- _tiled.c: functions of the module ----

PyObject* tiled_memory(PyObject* self, PyObject* args);
PyObject* tiled_graph(PyObject* self, PyObject* args);
PyObject* tiled_graph_destroy(PyObject* self, PyObject* handle);
PyObject* tiled_graph_fingerprint(PyObject* self, PyObject* handle);
PyObject* tiled_plan(PyObject* self, PyObject* args);
PyObject* tiled_plan_destroy(PyObject* self, PyObject* handle);
PyObject* tiled_plan_explain(PyObject* self, PyObject* handle);
PyObject* tiled_run(PyObject* self, PyObject* args);

// ---- _handle.c ----

int add_handle_type(PyObject* module);
// A Handle of what destroy() ends.
PyObject* new_handle(void* pointer, PyObject* destroy);

// ---- _tensors.c: functions of the module, and what they need to be set up ----

int intern_tensor_names(void);
PyObject* set_torch(PyObject* self, PyObject* args);
PyObject* tensor_call(PyObject* self, PyObject* args);
PyObject* recipe(PyObject* self, PyObject* args);
PyObject* run_tensors(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* plain(PyObject* self, PyObject* const* args, Py_ssize_t count);

// ---- _gradient.c: likewise ----

int intern_gradient_names(void);
PyObject* set_autograd(PyObject* self, PyObject* args);
PyObject* apply(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* forward(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* backward_of(PyObject* self, PyObject* type);
// function(first, args..., last), without the last if that is NULL.
PyObject* call_with(PyObject* function, PyObject* first, PyObject* const* args, Py_ssize_t count, PyObject* last);
// A C function, which stays, as a method of a type. NULL and an exception for what is no type.
PyObject* method_of_type(PyObject* type, PyMethodDef* method);

// ---- _modules.c: likewise ----

int intern_module_names(void);
PyObject* set_modules(PyObject* self, PyObject* args);
PyObject* layer_graph(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* plain_map(PyObject* self, PyObject* module);

// ---- _edges.c: a function of the module ----

PyObject* edge_list(PyObject* self, PyObject* const* args, Py_ssize_t count);

// ---- _scores.c: functions of the module ----

PyObject* head_scores(PyObject* self, PyObject* args);
PyObject* head_scores_grad(PyObject* self, PyObject* args);
PyObject* head_scores_workspace(PyObject* self, PyObject* args);

// ---- _layers.c: likewise ----

int intern_layer_names(void);
PyObject* set_layers(PyObject* self, PyObject* args);
PyObject* forward_layer(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* backward_layer(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* backward_of_layers(PyObject* self, PyObject* type);
PyObject* layer_mapped(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* layer_gat(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* layer_agnn(PyObject* self, PyObject* const* args, Py_ssize_t count);

#endif
