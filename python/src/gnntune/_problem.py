"""Operations, the arrays they have, and what may be asked of them: gnntune.h in Python's words."""

from __future__ import annotations

from dataclasses import dataclass

from gnntune import _native
from gnntune._errors import InvalidArgument

OPS = {
    "spmm": _native.SPMM,
    "sddmm": _native.SDDMM,
    "spmm_grad": _native.SPMM_GRAD,
    "edge_softmax": _native.EDGE_SOFTMAX,
    "gat": _native.GAT,
    "gat_grad": _native.GAT_GRAD,
    "agnn": _native.AGNN,
    "agnn_grad": _native.AGNN_GRAD,
    "gcn_norm": _native.GCN_NORM,
    "coo_to_csr": _native.COO_TO_CSR,
    "csr_to_csc": _native.CSR_TO_CSC,
    "attention": _native.ATTENTION,
    "attention_grad": _native.ATTENTION_GRAD,
}
DTYPES = {"f32": _native.F32, "f16": _native.F16, "bf16": _native.BF16}
REDUCTIONS = {"sum": _native.SUM, "mean": _native.MEAN, "max": _native.MAX}
DIRECTIONS = {"forward": _native.FORWARD, "reversed": _native.REVERSED}
POLICIES = {"hot": _native.HOT, "cold": _native.COLD, "graph": _native.GRAPH}
SOURCES = {
    None: _native.SOURCES_DEFAULT,
    "db_then_model": _native.DB_THEN_MODEL,
    "db_only": _native.DB_ONLY,
    "tune_on_miss": _native.TUNE_ON_MISS,
}


@dataclass(frozen=True)
class Array:
    """An array of an operation.

    `shape` names its sizes; n_rows and n_cols are those of the problem's direction. `dtype` is "" for the problem's.
    """

    shape: tuple[str, ...]
    dtype: str = ""
    optional: bool = False


_X = Array(("n_cols", "heads", "k"))
_ROWS = Array(("n_rows", "heads", "k"))
_SCORE_ROW = Array(("n_rows", "heads"))
_SCORE_COL = Array(("n_cols", "heads"))
_BETA = Array(("heads",))
_LSE = Array(("n_rows", "heads"), "f32")
_SAVED = {"grad_y": _ROWS, "y_saved": _ROWS, "lse_saved": _LSE}

# Arrays that the operation always has. Weights and arguments of a maximum come on top: arrays_of().
_INPUTS: dict[str, dict[str, Array]] = {
    "spmm": {"x": _X},
    "sddmm": {"x": _X, "x_row": _ROWS},
    "spmm_grad": {"x": _X, "grad_y": _ROWS},
    "edge_softmax": {"edge_weight": Array(("m", "heads"))},
    "gat": {"x": _X, "score_row": _SCORE_ROW, "score_col": _SCORE_COL},
    "agnn": {"x": _X, "x_row": _ROWS, "beta": _BETA},
    "attention": {"x": _X, "x_row": _ROWS, "key": _X},
    "gcn_norm": {},
    "coo_to_csr": {},
    "csr_to_csc": {},
}
_INPUTS |= {f"{op}_grad": {**_INPUTS[op], **_SAVED} for op in ("gat", "agnn", "attention")}

_ATTENDED = {"y": _ROWS, "lse": Array(_LSE.shape, "f32", optional=True)}
_OUTPUTS: dict[str, dict[str, Array]] = {
    "spmm": {"y": _ROWS},
    "sddmm": {"y": Array(("m", "heads"))},
    "spmm_grad": {"grad_x": _X},
    "edge_softmax": {"y": Array(("m", "heads"))},
    "gat": _ATTENDED,
    "gat_grad": {"grad_x": _X, "grad_score_row": _SCORE_ROW, "grad_score_col": _SCORE_COL},
    "agnn": _ATTENDED,
    "agnn_grad": {"grad_x": _X, "grad_x_row": _ROWS, "grad_beta": _BETA},
    "attention": _ATTENDED,
    "attention_grad": {"grad_x": _X, "grad_x_row": _ROWS, "grad_key": _X},
    "gcn_norm": {"y": Array(("m",)), "y_self": Array(("n_rows",))},
    "coo_to_csr": {
        "out_ptr": Array(("n_rows + 1",), "int32"),
        "out_idx": Array(("m",), "int32"),
        "out_edge_id": Array(("m",), "int32"),
    },
    "csr_to_csc": {
        "out_ptr": Array(("n_cols + 1",), "int32"),
        "out_idx": Array(("m",), "int32"),
        "out_edge_id": Array(("m",), "int32"),
    },
}


@dataclass(frozen=True)
class Problem:
    """An operation with its sizes and demands, as gnntune_problem of gnntune.h.

    Asking for more (`deterministic`, a smaller `max_error` or `workspace_limit`) narrows the choice; nothing has to be
    tuned again. `workspace_limit` is in bytes, None for no limit; `expected_calls` are the runs over which the cost of
    building formats is spread; `max_error` is relative to the sum of |terms|, 0 for fp32 arithmetic only. `config`
    names the config to run in the place of a choice, sampling ones and those of reduced precision included.
    """

    op: str
    k: int = 1
    heads: int = 1
    dtype: str = "f32"
    reduce: str = "sum"
    direction: str = "forward"
    weighted: bool = False
    self_loop: bool = False
    deterministic: bool = False
    allow_sampling: bool = False
    policy: str = "hot"
    operand_alignment: int = 16
    max_error: float = 0.0
    expected_calls: float = 1000.0
    workspace_limit: int | None = None
    config: str | None = None

    def __post_init__(self) -> None:
        for field, words in (
            ("op", OPS),
            ("dtype", DTYPES),
            ("reduce", REDUCTIONS),
            ("direction", DIRECTIONS),
            ("policy", POLICIES),
        ):
            value = getattr(self, field)
            if value not in words:
                raise InvalidArgument(f"{field} is {value!r}; expected one of {', '.join(words)}")

    def __hash__(self) -> int:
        # Graphs find their plans by problems, each of them more often than it is made.
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(self.native())
            object.__setattr__(self, "_hash", known)
        return known

    def native(self) -> tuple[object, ...]:
        """The arguments of _native.plan_create behind context, graph and stream."""
        return (
            OPS[self.op],
            self.k,
            self.heads,
            DTYPES[self.dtype],
            REDUCTIONS[self.reduce],
            DIRECTIONS[self.direction],
            self.weighted,
            self.self_loop,
            self.deterministic,
            self.allow_sampling,
            POLICIES[self.policy],
            self.operand_alignment,
            self.max_error,
            self.expected_calls,
            -1 if self.workspace_limit is None else self.workspace_limit,
            self.config,
        )

    def inputs(self) -> dict[str, Array]:
        """Arrays that a run reads, by their names in gnntune_operands."""
        arrays = dict(_INPUTS[self.op])
        if self.weighted and self.op != "edge_softmax":
            arrays["edge_weight"] = self._weight("m")
        if self.self_loop:
            arrays["self_weight"] = self._weight("n_rows")
        if self.op == "spmm_grad" and self.reduce == "max":
            arrays["argmax_saved"] = Array(_ROWS.shape, "int32")
        return arrays

    def outputs(self) -> dict[str, Array]:
        """Arrays that a run writes, by their names in gnntune_operands."""
        arrays = dict(_OUTPUTS[self.op])
        if self.op == "spmm" and self.reduce == "max":
            arrays["argmax"] = Array(_ROWS.shape, "int32", optional=True)
        if self.op == "spmm_grad" and self.weighted:
            arrays["grad_edge_weight"] = self._weight("m")
        if self.op == "spmm_grad" and self.self_loop:
            arrays["grad_self_weight"] = self._weight("n_rows")
        return arrays

    def _weight(self, size: str) -> Array:
        sums = self.op in ("spmm", "spmm_grad") and self.reduce != "max"
        return Array((size, "heads") if sums and self.weighted and self.heads > 1 else (size,))
