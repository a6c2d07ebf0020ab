"""Types of the extension module; _native.c says what its functions do."""

from collections.abc import Callable
from typing import Any

OK: int
INVALID_ARGUMENT: int
INVALID_GRAPH: int
NO_DEVICE: int
DATABASE: int
UNSUPPORTED: int
RUNTIME: int
OUT_OF_MEMORY: int
INTERNAL: int
BACKEND_AUTO: int
BACKEND_CPU: int
BACKEND_CUDA: int
HOST: int
DEVICE: int
SPMM: int
SDDMM: int
SPMM_GRAD: int
EDGE_SOFTMAX: int
GAT: int
GAT_GRAD: int
AGNN: int
AGNN_GRAD: int
GCN_NORM: int
COO_TO_CSR: int
CSR_TO_CSC: int
ATTENTION: int
ATTENTION_GRAD: int
F32: int
F16: int
BF16: int
SUM: int
MEAN: int
MAX: int
FORWARD: int
REVERSED: int
HOT: int
COLD: int
GRAPH: int
NO_ACTIVATION: int
LEAKY_RELU: int
EXP: int
SOURCES_DEFAULT: int
DB_THEN_MODEL: int
DB_ONLY: int
TUNE_ON_MISS: int
TILES_AUTO: int
TILES_RESIDENT: int
TILES_STREAMED: int

def version() -> int: ...
def open(
    path: str | bytes | None,
    backend: int,
    device: int,
    sources: int,
    require_database: bool,
    tune_budget_us: int,
    format_limit_bytes: int,
    alloc: Callable[[int], int] | bool | None,
    free: Callable[[int, int], None] | None,
    memory_in_stream_order: bool,
    /,
) -> int: ...
def close(context: int, /) -> None: ...
def context_backend(context: int, /) -> int: ...
def context_device(context: int, /) -> int: ...
def context_describe(context: int, /) -> str: ...
def graph(
    context: int,
    memory: int,
    row_ptr: int,
    row_idx: int,
    wide_rows: bool,
    col_idx: int,
    wide_ids: bool,
    n_rows: int,
    n_cols: int,
    m: int,
    trusted: bool,
    transient: bool,
    longest_row: int,
    stream: int,
    /,
) -> int: ...
def graph_destroy(graph: int, /) -> None: ...
def graph_fingerprint(graph: int, stream: int, /) -> str: ...
def graph_release_formats(graph: int, /) -> None: ...
def graph_format_bytes(graph: int, /) -> int: ...
def plan_create(
    context: int,
    graph: int,
    stream: int,
    op: int,
    k: int,
    heads: int,
    dtype: int,
    reduce: int,
    direction: int,
    weighted: bool,
    self_loop: bool,
    deterministic: bool,
    allow_sampling: bool,
    policy: int,
    operand_alignment: int,
    max_error: float,
    expected_calls: float,
    workspace_limit_bytes: int,
    config: str | None,
    /,
) -> int: ...
def plan_destroy(plan: int, /) -> None: ...
def plan_facts(plan: int, /) -> tuple[str, str, int, int, int, float]: ...
def plan_is_shared(plan: int, /) -> bool: ...
def plan_explain(plan: int, /) -> str: ...
def prepare(
    plan: int,
    names: tuple[str, ...],
    activation: int,
    scale: float,
    negative_slope: float,
    dropout: float,
    seed: int,
    /,
) -> bytes: ...
def tiled_memory(
    context: int, graph: tuple[object, ...], tiling: tuple[object, ...], problem: tuple[object, ...] | None, /
) -> tuple[int, int, int, bool]: ...
def tiled_graph(context: int, graph: tuple[object, ...], tiling: tuple[object, ...], stream: int, /) -> int: ...
def tiled_graph_destroy(graph: int, /) -> None: ...
def tiled_graph_fingerprint(graph: int, /) -> str: ...
def tiled_plan(graph: int, stream: int, problem: tuple[object, ...], /) -> int: ...
def tiled_plan_destroy(plan: int, /) -> None: ...
def tiled_plan_explain(plan: int, /) -> str: ...
def tiled_run(plan: int, stream: int, x: object, edge_weight: object, y: object, /) -> None: ...
def repeat(call: bytes, stream: int, workspace: object, times: int, /, *arrays: object) -> float: ...
def set_torch(
    tensor: type,
    parameter: type,
    empty_like: Callable[..., object],
    modes: Callable[[], bool],
    autocast: Callable[[], bool],
    grad_enabled: Callable[[], bool],
    deterministic: Callable[[], bool],
    functorch: Callable[[], bool],
    recipes: object,
    forward_names: dict[str, Any],
    capsule: object,
    /,
) -> bool: ...
def set_autograd(
    apply: Callable[..., object],
    saves: object,
    find_saves: Callable[..., tuple[int | None, ...]],
    run: Callable[..., tuple[object, ...]],
    backward: Callable[..., tuple[object, ...]],
    watchers: list[Any],
    sum_reversed: object,
    /,
) -> None: ...
def backward_of(node: type, /) -> object: ...
def tensor_call(call: bytes, device: tuple[int, int], inputs: tuple[object, ...], /) -> bytes: ...
def recipe(
    call: bytes,
    device: tuple[int, int],
    inputs: tuple[object, ...],
    leads: tuple[int, ...],
    results: tuple[tuple[int, int, tuple[int, ...]], ...],
    /,
) -> bytes: ...
def run_tensors(graph: object, op: str, numbers: object, /, *inputs: object) -> tuple[object, ...] | None: ...
def problem(*native: object) -> bytes | None: ...
def edge_list(context: int, edge_index: object, loops: int, /) -> tuple[Any, bool] | None: ...
def head_scores(
    context: int, n: int, heads: int, k: int, dtype: int, stream: int, arrays: tuple[object, ...], /
) -> None: ...
def head_scores_grad(
    context: int,
    n: int,
    heads: int,
    k: int,
    dtype: int,
    stream: int,
    arrays: tuple[object, ...],
    workspace: int,
    size: int,
    /,
) -> None: ...
def head_scores_workspace(n: int, heads: int, k: int, /) -> int: ...
def has_shim() -> bool: ...
def has_layers() -> bool: ...
def has_raw_memory() -> bool: ...
def plain(*tensors: object) -> bool | None: ...
def apply(graph: object, op: str, numbers: object, /, *inputs: object) -> object | None: ...
def forward(ctx: object, graph: object, op: str, numbers: object, /, *inputs: object) -> object: ...
def set_layers(
    apply: Callable[..., object],
    run: Callable[..., object],
    watchers: list[Any],
    backward: Callable[..., object],
    sum_reversed: object,
    /,
) -> None: ...
def set_modules(
    graph: type, maps: tuple[type, ...], hooks: tuple[str, ...], global_hooks: tuple[object, ...], /
) -> None: ...
def layer_graph(
    layer: dict[str, Any], x: object, adjacency: object, aggregations: tuple[str, ...], /
) -> bool | None: ...
def plain_map(module: object, /) -> dict[str, Any] | None: ...
def forward_layer(ctx: object, state: object, /, *tensors: object) -> object: ...
def backward_layer(ctx: object, grad: object, /) -> object: ...
def backward_of_layers(node: type, /) -> object: ...
def layer_mapped(
    graph: object,
    pair: object,
    edge_weight: object,
    self_weight: object,
    x: object,
    weight: object,
    bias: object,
    target: object,
    root: object,
    /,
) -> object | None: ...
def layer_gat(
    graph: object,
    pair: object,
    x: object,
    weight: object,
    att_row: object,
    att_col: object,
    bias: object,
    seed: object,
    /,
) -> object | None: ...
def layer_agnn(graph: object, pair: object, x: object, beta: object, /) -> object | None: ...
def run(call: bytes, stream: int, workspace: object, /, *arrays: object) -> bool: ...

class Handle:
    """A handle of libgnntune that is destroyed with its last Python reference."""

    def __init__(self, value: int, destroy: Callable[[int], None]) -> None: ...
    @property
    def value(self) -> int: ...
    def close(self) -> None: ...
