"""What sampling and reduced precision cost a trained model, and what they save."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gnntune._errors import InvalidArgument, RunFailed, Unsupported
from gnntune._problem import Problem
from gnntune._program import run_json, tqdm_report
from gnntune._results import Table
from gnntune.torch._accuracy_rows import Accuracy, LayerWay, device_facts, digest, store_rows
from gnntune.torch._graph import Graph, forget_captured
from gnntune.torch._run import numbers_of, run
from gnntune.torch._time import time_us
from gnntune.torch._ways import DTYPES, EXACT, Sum, Way, scope

SAMPLES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
SAMPLERS = ("bucket", "fastrand")
PRECISIONS = ("tf32", "f16", "bf16")
# Half the width of an interval of 95 % of a normal distribution.
_SURE = 1.96


class Rule(NamedTuple):
    """What is computed, whichever kernel does it: a sample or a precision. Exact where `kind` is empty."""

    kind: str = ""
    S: int = 0
    rescaled: bool = False

    def __str__(self) -> str:
        sample = f" S={self.S}" if self.S else ""
        return f"{self.kind or 'exact'}{sample}{' rescaled' if self.rescaled else ''}"


def accuracy(
    model: nn.Module | Sequence[nn.Module],
    graph: Graph,
    x: Tensor,
    y: Tensor,
    vertices: Tensor,
    *,
    samplers: Iterable[str] = SAMPLERS,
    samples: Iterable[int] = SAMPLES,
    rescale: Iterable[bool] = (False, True),
    precisions: Iterable[str] = PRECISIONS,
    max_loss: float = 0.01,
    exhaustive: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
    db: str | os.PathLike[str] | None = None,
    store: bool = True,
    progress: bool = True,
) -> Table[Accuracy]:
    """Accuracy and time of a trained model with its sums sampled or in reduced precision, stored in the database.

    `model` is a trained one, or several trainings of one structure (other seeds): intervals are then over them too, and
    the rows hold for every training of that structure; those of a single model hold for its weights alone. `vertices`
    are the ids or the mask of the validation split, `y` the labels of all vertices.

    Every sum of the forward pass (spmm() and gcn(), of gnntune.pyg's layers too) is run with each sampler, each S up to
    the longest row, scaled and not, and in each precision: all sums alike, and each alone with the others exact. Where
    they are several, the fastest way that loses at most `max_loss` is then looked for layer by layer; `exhaustive`
    measures every combination instead. Of the kernels that compute a way the fastest counts. Maxima are not sampled.

    Rows go to `db` (default: that of configure(), else the user's); nothing of the model or the graph changes. Raises
    InvalidArgument for a model, labels or vertices that accuracy cannot be had of, RunFailed for scores that are NaN.
    """
    models = _models(model)
    vertices = _vertices(graph, y, vertices)
    study = _Study(models, graph, x, y, vertices, name or type(models[0]).__name__, graph_name)
    rules = study.rules(tuple(samplers), sorted(set(samples)), tuple(rescale), tuple(precisions))
    report, close = tqdm_report("gnntune") if progress else (None, lambda: None)
    try:
        rows = study.run(rules, max_loss, exhaustive, report)
    finally:
        close()
    if store and rows:
        store_rows(rows, study.device, study.variants, study.listed["tool"], study.sums[0].graph, db)
    return Table(rows, device=str(graph.device))


def _models(model: nn.Module | Sequence[nn.Module]) -> list[nn.Module]:
    models = [model] if isinstance(model, nn.Module) else list(model)
    if not models or not all(isinstance(m, nn.Module) for m in models):
        raise InvalidArgument("expected a trained torch.nn.Module, or several trainings of one")
    if len({digest(m) for m in models}) > 1:
        raise InvalidArgument("the models are of several structures; expected trainings of one with other seeds")
    return models


def _vertices(graph: Graph, y: Tensor, vertices: Tensor) -> Tensor:
    if not isinstance(graph, Graph):
        raise TypeError(f"expected a gnntune.torch.Graph, not {type(graph).__name__}")
    if not graph.is_square:
        raise InvalidArgument(f"{graph!r} is not square: a model's layers share one set of vertices")
    if y.dim() != 1 or y.shape[0] != graph.n_rows:
        raise InvalidArgument(f"y has the shape {tuple(y.shape)}; expected a label for each of {graph.n_rows} vertices")
    if vertices.dtype == torch.bool:
        vertices = vertices.nonzero().view(-1)
    vertices = vertices.to(y.device).long()
    if vertices.numel() == 0:
        raise InvalidArgument("no vertices to measure on: expected the ids or the mask of the validation split")
    if int(vertices.min()) < 0 or int(vertices.max()) >= graph.n_rows:
        raise InvalidArgument(f"a vertex to measure on is outside 0 to {graph.n_rows - 1}")
    if bool((y[vertices] < 0).any()):
        raise InvalidArgument("vertices to measure on have no label (-1): leave them out of the split")
    return vertices


class _Study:
    """One call of accuracy(): the models on a copy of the graph, so that its plans go when it does."""

    def __init__(
        self,
        models: list[nn.Module],
        graph: Graph,
        x: Tensor,
        y: Tensor,
        vertices: Tensor,
        name: str,
        graph_name: str | None,
    ) -> None:
        self.models, self.x, self.labels, self.vertices, self.name = models, x, y[vertices], vertices, name
        self.graph = Graph.from_csr(graph.row_ptr, graph.col, graph.n_cols, edge_weight=graph.edge_weight)
        self.device = device_facts(graph.device)
        self.listed = run_json(["list", "--op", "spmm"])[0]
        self.variants = {v["id"]: v for v in self.listed["data"] if v["backend"] == self.device["backend"]}
        self.times: dict[tuple[int, Way], tuple[str, float] | None] = {}
        self.errors: dict[tuple[int, Rule], float] = {}
        self.lost: dict[str, Tensor] = {}  # by way, [models, vertices]: 1 right no more, -1 right only now
        self.sums, self.exact = self._exact()
        graphs = {s.graph.fingerprint for s in self.sums}
        if len(graphs) > 1:
            raise InvalidArgument(
                "the model sums over several graphs, with self loops and without: give it one that has none"
            )
        self.fingerprint = graphs.pop()
        self.graph_name = graph_name or self.fingerprint[:12]
        self.longest = int(self.sums[0].graph.row_ptr.diff().max())
        self.model = digest(models[0], weights=len(models) == 1)

    # ---- Running the models ----

    @torch.no_grad()
    def _scores(self, model: nn.Module, ways: Sequence[Way] | None, keep: bool = False) -> tuple[Tensor, list[Sum]]:
        training = model.training
        model.eval()
        try:
            with scope(ways, keep) as found:
                scores = model(self.x, self.graph)
        finally:
            model.train(training)
        if not isinstance(scores, Tensor) or scores.dim() != 2 or scores.shape[0] != self.graph.n_rows:
            shape = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
            raise InvalidArgument(f"the model gives {shape}; expected scores [{self.graph.n_rows}, classes]")
        if ways is not None and found.count != len(ways):
            raise InvalidArgument(
                f"the model did {found.count} sums, then {len(ways)}: expected the same in every pass"
            )
        return scores[self.vertices], found.sums or []

    def _exact(self) -> tuple[list[Sum], Tensor]:
        right: list[Tensor] = []
        sums: list[Sum] = []
        for model in self.models:
            scores, sums = self._scores(model, None, keep=True)
            if not bool(scores.isfinite().all()):
                raise RunFailed("the model's scores are not finite on vertices to measure on: train it anew")
            if int(self.labels.max()) >= scores.shape[1]:
                raise InvalidArgument(
                    f"a label is {int(self.labels.max())} and the model has {scores.shape[1]} classes"
                )
            right.append(scores.argmax(dim=1) == self.labels)
        if not sums:
            raise InvalidArgument(
                "the model's forward pass has no sum of gnntune's: expected spmm(), gcn() or layers of gnntune.pyg "
                "that sum; attention is not sampled"
            )
        return sums, torch.stack(right)

    def _right(self, ways: Sequence[Way]) -> Tensor:
        right = []
        for model in self.models:
            scores, _ = self._scores(model, ways)
            right.append((scores.argmax(dim=1) == self.labels) & ~scores.isnan().any(dim=1))
        return torch.stack(right)

    # ---- What there is to try ----

    def rules(
        self, samplers: tuple[str, ...], samples: list[int], rescale: tuple[bool, ...], precisions: tuple[str, ...]
    ) -> list[Rule]:
        for word, known in [(s, SAMPLERS) for s in samplers] + [(p, PRECISIONS) for p in precisions]:
            if word not in known:
                raise InvalidArgument(f"{word!r} is none of {', '.join(known)}")
        if any(s < 1 for s in samples):
            raise InvalidArgument(f"S is {min(samples)}; expected at least 1")
        rules = [
            Rule(kind, S, rescaled)
            for kind in samplers
            for S in samples
            if self.longest > S  # a wider sample is the whole row
            for rescaled in rescale
        ]
        return rules + [Rule(kind) for kind in precisions]

    def _ways(self, rule: Rule) -> Iterator[Way]:
        """The configs that compute what the rule says, as far as lists tell."""
        if not rule.kind:
            yield EXACT
        elif rule.kind in DTYPES:
            yield Way("", rule.kind)
        elif rule.kind == "tf32":
            yield from (Way(v["id"]) for v in self.variants.values() if v["precision"] == "tf32")
        else:
            for variant in self.variants.values():
                yield from self._samplers(variant, rule)

    def _samplers(self, variant: dict[str, Any], rule: Rule) -> Iterator[Way]:
        params = dict(word.split("=", 1) for word in variant["params"].split() if "=" in word)
        if variant["answer"] != "approximate" or "S" not in params:
            return
        if "sampling" in params:
            words = [f"sampling={rule.kind}"]
        elif ("prime" in params) == (rule.kind == "fastrand"):
            words = []
        else:
            return
        words += [f"S={rule.S}", f"rescale={int(rule.rescaled)}"]
        for group in params.get("group", "").split("|"):
            yield Way(f"{variant['id']}{{{','.join(words + [f'group={group}'] * bool(group))}}}")

    def layer_way(self, place: int, rule: Rule) -> LayerWay | None:
        """The fastest config that does the rule for a sum; None if none can, or for the maximum of a sampled one."""
        best: LayerWay | None = None
        for way in self._ways(rule):
            # Scaling costs the same time whatever it is.
            timed = self._timed(place, way._replace(config=way.config.replace("rescale=1", "rescale=0")))
            if timed is None or (best and best.time_us <= timed[1]):
                continue
            config = timed[0].replace("rescale=0", "rescale=1") if rule.rescaled else timed[0]
            named = Way(config if way.config else "", way.dtype)
            best = LayerWay(self._problem(place, way.dtype), str(rule), config, timed[1], named)
        return best

    def _problem(self, place: int, dtype: str) -> Problem:
        s = self.sums[place]
        heads = s.weight.shape[1] if s.weight is not None and s.weight.dim() == 2 else 1
        width = s.x[0].numel()
        return Problem(
            "spmm",
            width // heads,
            heads,
            dtype=dtype,
            reduce=s.reduce,
            weighted=s.weight is not None,
            self_loop=s.self_weight is not None,
        )

    def _timed(self, place: int, way: Way) -> tuple[str, float] | None:
        """Full text of the config and its time; None where it cannot run."""
        key = (place, way)
        same = next((i for i in range(place) if self._problem(i, "f32") == self._problem(place, "f32")), place)
        if same != place:
            return self._timed(same, way)
        if key not in self.times:
            s = self.sums[place]
            # A copy, so that what the config builds goes with it.
            graph = Graph.from_csr(s.graph.row_ptr, s.graph.col, s.graph.n_cols)
            inputs = [t if t is None else t.detach().to(DTYPES[way.dtype]) for t in (s.x, s.weight, s.self_weight)]
            numbers = numbers_of(reduce=s.reduce, config=way.config, optional=False)
            try:
                with torch.no_grad():
                    found = time_us(graph.device, lambda: run(graph, "spmm", numbers, *inputs))
                config = next(iter(graph.problems().values()), None)
                self.times[key] = None if config is None else (config, found)
            except Unsupported:
                self.times[key] = None
            finally:
                forget_captured(graph)
        return self.times[key]

    @torch.no_grad()
    def _error(self, place: int, rule: Rule, way: LayerWay) -> float:
        if not rule.kind:
            return 0.0
        key = (place, rule)
        if key not in self.errors:
            s = self.sums[place]
            wanted = run(s.graph, "spmm", numbers_of(reduce=s.reduce, optional=False), s.x, s.weight, s.self_weight)[0]
            size = [t if t is None else t.abs() for t in (s.x, s.weight, s.self_weight)]
            scale = run(s.graph, "spmm", numbers_of(reduce=s.reduce, optional=False), *size)[0]
            dtype = DTYPES[way.way.dtype]
            given = [t if t is None else t.to(dtype) for t in (s.x, s.weight, s.self_weight)]
            got = run(s.graph, "spmm", numbers_of(reduce=s.reduce, config=way.way.config, optional=False), *given)[0]
            error = (got.float() - wanted).abs() / scale.clamp_min(torch.finfo(torch.float32).tiny)
            self.errors[key] = float(torch.where(scale > 0, error, 0.0).max())
        return self.errors[key]

    # ---- The search ----

    def run(
        self, rules: list[Rule], max_loss: float, exhaustive: bool, report: Callable[[int, int, str], None] | None
    ) -> list[Accuracy]:
        count = len(self.sums)
        options: list[dict[Rule, LayerWay]] = []
        for place in range(count):
            found = {rule: self.layer_way(place, rule) for rule in (Rule(), *rules)}
            options.append({rule: way for rule, way in found.items() if way is not None})
        uniform = [
            tuple(rule if rule in options[i] else Rule() for i in range(count))
            for rule in rules
            if any(rule in options[i] for i in range(count))
        ]
        single = [
            tuple(rule if i == place else Rule() for i in range(count))
            for place in range(count if count > 1 else 0)
            for rule in options[place]
            if rule.kind
        ]
        wanted = list(dict.fromkeys(uniform + single))
        if exhaustive:
            wanted = list(dict.fromkeys([*wanted, *itertools.product(*options)]))
        known: dict[tuple[Rule, ...], Accuracy] = {}
        for done, picks in enumerate(wanted):
            if report:
                report(done, len(wanted), "; ".join(map(str, picks)))
            if any(rule.kind for rule in picks):
                known[picks] = self._row(options, picks)
        if count > 1 and not exhaustive:
            self._by_layer(options, known, max_loss)
        return list(known.values())

    def _by_layer(
        self, options: list[dict[Rule, LayerWay]], known: dict[tuple[Rule, ...], Accuracy], max_loss: float
    ) -> None:
        """From the fastest allowed way on: each sum in turn by the fastest way that the whole still bears."""
        exact = (Rule(),) * len(options)
        allowed = [picks for picks, row in known.items() if row.loss_high <= max_loss]
        now = min(allowed, key=lambda picks: known[picks].time_us, default=exact)
        for place in sorted(range(len(options)), key=lambda i: -options[i][Rule()].time_us):
            for rule, way in sorted(options[place].items(), key=lambda item: item[1].time_us):
                if way.time_us >= options[place][now[place]].time_us:
                    break
                alone = known.get(tuple(rule if i == place else Rule() for i in range(len(options))))
                if alone and alone.loss_high > max_loss:
                    continue
                picks = (*now[:place], rule, *now[place + 1 :])
                if picks == exact:  # loses nothing, and is no row
                    now = picks
                    break
                if picks not in known:
                    known[picks] = self._row(options, picks)
                if known[picks].loss_high <= max_loss:
                    now = picks
                    break

    def _row(self, options: list[dict[Rule, LayerWay]], picks: tuple[Rule, ...]) -> Accuracy:
        layers = tuple(options[i][rule] for i, rule in enumerate(picks))
        right = self._right([layer.way for layer in layers])
        exact = float(self.exact.float().mean())
        self.lost["; ".join(map(str, picks))] = lost = self.exact.char() - right.char()
        loss, half = interval(lost.float())
        return Accuracy(
            graph=self.graph_name,
            fingerprint=self.fingerprint,
            model=self.model,
            model_name=self.name,
            way="; ".join(map(str, picks)),
            models=len(self.models),
            vertices=len(self.vertices),
            accuracy=float(right.float().mean()),
            exact=exact,
            loss=loss,
            loss_low=loss - half,
            loss_high=loss + half,
            max_error=max(self._error(i, rule, layers[i]) for i, rule in enumerate(picks)),
            time_us=sum(layer.time_us for layer in layers),
            exact_us=sum(options[i][Rule()].time_us for i in range(len(picks))),
            layers=layers,
        )


def interval(lost: Tensor) -> tuple[float, float]:
    """Mean of [models, vertices] and half its 95 % interval, over the vertices, which models share, and over models."""
    models, vertices = lost.shape
    variance = float(lost.mean(dim=0).var(correction=0)) / vertices
    if models > 1:
        variance += float(lost.mean(dim=1).var()) / models
    return float(lost.mean()), _SURE * variance**0.5
