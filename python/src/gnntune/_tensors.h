// What _tensors.c has for _gradient.c: runs of what was prepared, and what is switched on in torch.
#ifndef GNNTUNE_TENSORS_H
#define GNNTUNE_TENSORS_H

#include "_native.h"

// ---- DLPack 1.3, as far as it is used: dlpack.h of the framework has the words ----

typedef struct {
    int32_t device_type;
    int32_t device_id;
} DlDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DlType;

typedef struct {
    void* data;
    DlDevice device;
    int32_t ndim;
    DlType dtype;
    int64_t* shape;
    int64_t* strides;  // in elements; NULL: contiguous
    uint64_t byte_offset;
} DlTensor;

enum { kDlCpu = 1, kDlCuda = 2 };
enum { kDlInt = 0, kDlFloat = 2, kDlBfloat = 4 };

// ---- Runs ----

enum { kMostTensors = 8 };  // that a run gets
// Leading sizes that a graph has: n_rows, n_cols and m, in the order of its `_sizes`. Others are what they are.
enum { kSizes = 3 };

// What was prepared for inputs like these, and their addresses.
typedef struct {
    PyObject* entry;  // a reference: another thread may clear the list
    int transient;    // it is a recipe
    int64_t sizes[kSizes];
    void* arrays[kMostArrays];
    int32_t used;
} Found;

// What was prepared for an operation with these inputs. 0, perhaps with an exception, where nothing was. Otherwise the entry
// is to be given back, or run. Where tensors_are_seen().
int find_prepared(PyObject* graph, PyObject* op, PyObject* numbers, PyObject* const* inputs, Py_ssize_t count,
                  Found* found);

// Runs it, and gives it back: a tuple of results, or None where Python has to do it.
PyObject* run_found(Found* found, PyObject* const* inputs, PyObject* graph);

// Whether torch's tensors can be looked at from here.
int tensors_are_seen(void);
// What a plain tensor is: its arrays belong to it. 0, and no exception, for anything else.
int look_at_tensor(PyObject* tensor, DlTensor* out);

int is_contiguous(const DlTensor* tensor);
int64_t elements_of(const DlTensor* tensor);
void* memory_of(const DlTensor* tensor);

// A new tensor of the type and on the device of `like`, which goes to *out, and its address. 0 and an exception if torch has
// no memory, say.
int allocate_shape(PyObject* like, const int64_t* shape, int32_t ndim, PyObject** out, void** address);
// A new tensor of int32 on a device. 0, and no exception, where torch has to be asked by Python.
int allocate_ids(DlDevice device, const int64_t* shape, int32_t ndim, PyObject** out, void** address);
// The current stream of a device: NULL for the default one, and on a CPU. 0 and an exception if torch fails.
int current_stream(DlDevice device, void** stream);
// The same, of which the graph is told. A NULL stream, on a GPU, is the default one, which cannot be
// captured and on which memory comes and goes in order. 0 and an exception if torch fails.
int find_stream(DlDevice device, PyObject* graph, void** stream);
// The context of a graph, which lives until configure(): that does not run beside operations. NULL, perhaps with an
// exception, if it has none and cannot be given one.
void* context_of_graph(PyObject* graph);
// Whether it is a torch.nn.Parameter of that type itself.
int is_plain_parameter(PyObject* object);

// Whether it is, in this thread; -1 and an exception if torch fails.
int gradients_are_on(void);
int autocast_is_on(void);
int modes_are_on(void);  // of dispatch
int functorch_is_on(void);

#endif
