"""Uses libgnntune as a binding in another language does: no header, structs after the table of layout.def, defaults from the
library's initialisers. Usage: binding.py LIBRARY LAYOUT_DEF"""

import array
import ctypes
import math
import re
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
TYPES = {"size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
         "float": ctypes.c_float, "double": ctypes.c_double, "pointer": ctypes.c_void_p}


def structs(path):
    """The structs of the table, without their prefix."""
    fields, sizes, offsets = {}, {}, {}
    for line in open(path):
        if row := re.match(r"STRUCT\(gnntune_(\w+), (\d+)\)", line):
            fields[row[1]], sizes[row[1]] = [], int(row[2])
        elif row := re.match(r"FIELD\(gnntune_(\w+), (\w+), (\d+), (\w+)\)", line):
            fields[row[1]].append((row[2], TYPES[row[4]]))
            offsets[row[1], row[2]] = int(row[3])
    made = {name: type(name, (ctypes.Structure,), {"_fields_": of}) for name, of in fields.items()}
    for name, size in sizes.items():
        assert ctypes.sizeof(made[name]) == size, name
    for (name, field), offset in offsets.items():
        assert getattr(made[name], field).offset == offset, f"{name}.{field}"
    return made


STRUCTS = structs(sys.argv[2])
ALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
library.gnntune_last_error.restype = ctypes.c_char_p
library.gnntune_plan_config.restype = ctypes.c_char_p
library.gnntune_plan_workspace_bytes.restype = ctypes.c_size_t
library.gnntune_plan_array_elements.restype = ctypes.c_int64
for function in ("gnntune_close", "gnntune_graph_destroy", "gnntune_plan_destroy"):
    getattr(library, function).restype = None
INVALID_ARGUMENT = 1
CPU, HOST, SPMM, ATTENTION = 1, 1, 1, 12


def check(status):
    if status != 0:
        raise RuntimeError(library.gnntune_last_error().decode())


def struct(name, **values):
    made = STRUCTS[name]()
    check(getattr(library, f"gnntune_{name}_init")(ctypes.byref(made), ctypes.c_size_t(ctypes.sizeof(made))))
    for field, value in values.items():
        setattr(made, field, value)
    return made


def address(values):
    return values.buffer_info()[0]


def handle(function, *arguments):
    made = ctypes.c_void_p()
    check(getattr(library, function)(*arguments, ctypes.byref(made)))
    return made


def run(plan, **values):
    size = library.gnntune_plan_workspace_bytes(plan)
    memory = ctypes.create_string_buffer(size + 256)
    workspace = (ctypes.addressof(memory) + 255) // 256 * 256
    check(library.gnntune_run(plan, ctypes.byref(struct("operands", **values)), ctypes.c_void_p(workspace),
                              ctypes.c_size_t(size), None))


def expect(found, expected):
    assert len(found) == len(expected) and all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(found, expected)), found


# Defaults arrive in the fields that the table names.
problem = struct("problem")
assert (problem.struct_size, problem.heads, problem.operand_alignment) == (ctypes.sizeof(problem), 1, 16)
assert (problem.expected_calls, problem.workspace_limit_bytes, problem.max_error) == (1000, 2**64 - 1, 0)
operands = struct("operands")
assert (operands.activation, operands.scale, operands.dropout, operands.seed_offset) == (1, 1, 0, None)
assert math.isclose(operands.negative_slope, 0.2, rel_tol=1e-6)
assert struct("csr").longest_row == -1
assert (struct("open_options").device, struct("open_options").tune_budget_us) == (-1, -1)

# An allocator of the application, which is called without and with other threads in the library.
held = {}


def alloc(size, alignment, user):
    memory = ctypes.create_string_buffer(size + alignment)
    at = -(-ctypes.addressof(memory) // alignment) * alignment
    held[at] = memory
    return at


hooks = ALLOC(alloc), FREE(lambda memory, size, user: held.pop(memory) and None)
options = struct("open_options", backend=CPU, alloc=ctypes.cast(hooks[0], ctypes.c_void_p).value,
                 free=ctypes.cast(hooks[1], ctypes.c_void_p).value)
context = handle("gnntune_open", b"none.db", ctypes.byref(options))
assert library.gnntune_context_backend(context) == CPU and library.gnntune_context_device(context) == -1

# Edges 1 -> 0, 2 -> 0, 0 -> 1, as int64, which are copied.
row_idx, col_idx = array.array("q", [0, 0, 1]), array.array("q", [1, 2, 0])
coo = struct("coo", memory=HOST, id_type=1, n_rows=2, n_cols=3, m=3, row_idx=address(row_idx), col_idx=address(col_idx))
graph = handle("gnntune_graph_create_coo", context, ctypes.byref(coo), None)
assert held

x, weight, y = array.array("f", [1, 2, 10, 20, 100, 200]), array.array("f", [1, 0.5, -1]), array.array("f", [7] * 4)
spmm = struct("problem", op=SPMM, k=2, weighted=1)
plan = handle("gnntune_plan_create", context, graph, ctypes.byref(spmm), None)
assert library.gnntune_plan_config(plan).startswith(b"spmm.")
assert [library.gnntune_plan_array_elements(plan, name) for name in (b"x", b"edge_weight", b"y", b"key")] == [6, 3, 4, -1]
run(plan, x=address(x), edge_weight=address(weight), y=address(y))
expect(y, [60, 120, -1, -2])

query = array.array("f", [1, 0, 0, 1])
key = array.array("f", [1, 1, math.log(2), 5, 0, 9])
attend = handle("gnntune_plan_create", context, graph, ctypes.byref(struct("problem", op=ATTENTION, k=2)), None)
run(attend, x=address(x), x_row=address(query), key=address(key), y=address(y))
expect(y, [40, 80, 1, 2])  # weights of 2/3 and 1/3, since the scale is 1
run(attend, x=address(x), x_row=address(query), key=address(key), y=address(y), scale=0)
expect(y, [55, 110, 1, 2])

# Each thread has its own error, and plans beside others.
failures = []


def work(k):
    try:
        for _ in range(50):
            its = handle("gnntune_graph_create_coo", context, ctypes.byref(coo), None)
            made = handle("gnntune_plan_create", context, its, ctypes.byref(struct("problem", op=SPMM, k=k)), None)
            missing = struct("operands", y=address(y))
            assert library.gnntune_run(made, ctypes.byref(missing), None, ctypes.c_size_t(0), None) == INVALID_ARGUMENT
            assert library.gnntune_last_error() == f"operands.x is NULL; expected {3 * k} elements".encode()
            library.gnntune_plan_destroy(made)
            library.gnntune_graph_destroy(its)
    except Exception as error:  # of another thread: it would be lost
        failures.append(error)


threads = [threading.Thread(target=work, args=(1 + i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures

for made in (plan, attend):
    library.gnntune_plan_destroy(made)
library.gnntune_graph_destroy(graph)
library.gnntune_close(context)
assert not held, "memory was not given back"
print("binding: right")
