// Handles of the library, and who ends them: gnntune._native.Handle. A step on a mini-batch has four of them, whose making
// and ending in Python cost as much as one of the graph's operations.
#include "_native.h"

#include <structmember.h>
#include <unistd.h>

typedef struct {
    PyObject_HEAD PyObject* value;  // an integer; 0 when it was closed
    PyObject* destroy;              // (value)
    pid_t process;
} Handle;

static PyObject* handle_type;

// Takes the reference to `value`.
static PyObject* made(PyObject* type, PyObject* value, PyObject* destroy) {
    const allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject*)type, Py_tp_alloc);
    Handle* handle = value ? (Handle*)alloc((PyTypeObject*)type, 0) : NULL;
    if (!handle) {
        Py_XDECREF(value);
        return NULL;
    }
    Py_INCREF(destroy);
    handle->value = value;
    handle->destroy = destroy;
    handle->process = getpid();
    return (PyObject*)handle;
}

PyObject* new_handle(void* pointer, PyObject* destroy) {
    return made(handle_type, PyLong_FromVoidPtr(pointer), destroy);
}

static PyObject* create(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    static char* names[] = {"value", "destroy", NULL};
    PyObject *value, *destroy;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O", names, &PyLong_Type, &value, &destroy)) return NULL;
    Py_INCREF(value);
    return made((PyObject*)type, value, destroy);
}

// 0 and an exception if destroy() fails.
static int end(Handle* handle) {
    PyObject* value = handle->value;
    handle->value = PyLong_FromLong(0);
    const int there = value && PyObject_IsTrue(value) && handle->process == getpid();
    PyObject* done = there ? PyObject_CallFunctionObjArgs(handle->destroy, value, NULL) : NULL;
    Py_XDECREF(value);
    Py_XDECREF(done);
    return !there || done;
}

static PyObject* close_handle(PyObject* self, PyObject* none) {
    (void)none;
    if (!end((Handle*)self)) return NULL;
    Py_RETURN_NONE;
}

static void dealloc(PyObject* self) {
    Handle* handle = (Handle*)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!end(handle)) PyErr_WriteUnraisable(handle->destroy);
    PyErr_Restore(type, value, trace);
    Py_XDECREF(handle->value);
    Py_XDECREF(handle->destroy);
    PyTypeObject* its_type = Py_TYPE(self);
    const freefunc release = (freefunc)PyType_GetSlot(its_type, Py_tp_free);
    release(self);
    Py_DECREF(its_type);
}

static PyMethodDef methods_of_handle[] = {
    {"close", close_handle, METH_NOARGS, "Destroys it now. Does nothing the second time."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members_of_handle[] = {
    {"value", T_OBJECT, offsetof(Handle, value), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static const char kWords[] =
    "A handle of libgnntune that is destroyed with its last Python reference.\n\nA child of `fork` does not destroy "
    "what "
    "its parent made: CUDA does not survive a fork, and memory of the cpu backend goes with the process.";

static PyType_Slot slots_of_handle[] = {
    {Py_tp_doc, (void*)kWords},         {Py_tp_new, (void*)create},         {Py_tp_dealloc, (void*)dealloc},
    {Py_tp_methods, methods_of_handle}, {Py_tp_members, members_of_handle}, {0, NULL},
};

static PyType_Spec spec_of_handle = {"gnntune._native.Handle", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, slots_of_handle};

int add_handle_type(PyObject* module) {
    handle_type = PyType_FromSpec(&spec_of_handle);
    if (!handle_type) return 0;
    Py_INCREF(handle_type);
    return PyModule_AddObject(module, "Handle", handle_type) == 0;
}
