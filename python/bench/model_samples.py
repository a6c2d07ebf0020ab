"""ES-SpMM's tables with models that were trained here: accuracy against S, time against cuSPARSE and our best exact."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch
from study import Study

import gnntune.models as models
import gnntune.torch as gt
from gnntune._errors import Unsupported
from gnntune.torch._accuracy import Rule, _Study, interval
from gnntune.torch._accuracy_rows import Accuracy, store_rows
from gnntune.torch._approximated import fastest
from gnntune.torch._run import numbers_of, run
from gnntune.torch._time import time_us
from gnntune.torch._ways import Sum, scope

SAMPLES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
DROPPED = (0.2, 0.4, 0.6, 0.8)
MAX_LOSS = 0.01
PARTS = {"validation": 1, "test": 2}


def samples(study: Study, data: models.Labelled, name: str, seeds: int, epochs: int, budget: float, db: str) -> None:
    """Everything that is known of one graph and model, on split 0 with `seeds` trainings."""

    def work(add: Callable[..., None]) -> None:
        device = study.device
        graph, x, y, split = data.graph(device), data.x(device), data.y(device), data.split(0, device)
        facts = {"graph": data.name, "n": data.n, "m": data.m, "model": name, "side": "ours"}
        trained = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            model = models.build(name, data.features, data.classes).to(device)
            fitted = models.fit(model, graph, x, y, split, epochs=epochs, capture=study.on_gpu)
            add(**facts, seed=seed, what="test accuracy", value=100 * fitted.test, unit="%")
            trained.append(model.eval())
        gt.configure(db)
        # Our best exact kernel, not the one that a model expects to be fastest.
        with torch.no_grad():
            gt.tune(None, graph, step=lambda: trained[0](x, graph), budget=budget, progress=False)
        on = {part: _study(trained, graph, x, y, split[PARTS[part]], name, data.name) for part in PARTS}
        on["test"].times = on["validation"].times
        known = {part: {r.way: r for r in _rows(on[part])} for part in PARTS}
        mine = on["validation"]
        store_rows(
            list(known["validation"].values()), mine.device, mine.variants, mine.listed["tool"], mine.sums[0].graph, db
        )
        for part, found in known.items():
            for row in found.values():
                add(
                    **facts,
                    way=row.way,
                    form=part,
                    what="loss",
                    value=100 * row.loss,
                    unit="%",
                    low=100 * row.loss_low,
                    high=100 * row.loss_high,
                    repeats=row.models,
                    note=f"accuracy {100 * row.accuracy:.3f}, exact {100 * row.exact:.3f}, {row.vertices} vertices, "
                    f"largest error {row.max_error:.3g}",
                )
        for row in known["validation"].values():
            note = "; ".join(layer.config for layer in row.layers)
            add(**facts, way=row.way, what="sums", value=row.time_us, unit="us", note=note)
        exact = next(iter(known["validation"].values()))
        add(**facts, way="exact", what="sums", value=exact.exact_us, unit="us")
        _edges(add, facts, on["validation"])
        _baselines(add, facts, on["validation"])
        _inference(add, facts, on["validation"], known["validation"])
        _chosen(add, facts, on, known)
        _dropped(add, facts, trained, graph, x, y, split.test)

    study.run("samples", f"{data.name} {name}", 10 + budget if study.on_gpu else 1, work)


def _study(trained: list[Any], graph: gt.Graph, x: Any, y: Any, vertices: Any, name: str, graph_name: str) -> _Study:
    return _Study(trained, graph, x, y, vertices, name, graph_name)


def _rows(on: _Study) -> list[Accuracy]:
    rules = on.rules(("bucket", "fastrand"), list(SAMPLES), (False, True), ("tf32", "f16", "bf16"))
    return on.run(rules, MAX_LOSS, False, None)


def _edges(add: Callable[..., None], facts: dict[str, Any], on: _Study) -> None:
    """ES-SpMM's table IV and more: shares of edges that a sample keeps, and of rows that it shortens."""
    degree = on.sums[0].graph.row_ptr.diff().float()
    for S in SAMPLES:
        kept = float(degree.clamp(max=S).sum() / degree.sum())
        add(**facts, way=f"S={S}", what="edges kept", value=100 * kept, unit="%")
        add(
            **facts, way=f"S={S}", what="rows that lose edges", value=100 * float((degree > S).float().mean()), unit="%"
        )


def _looped(s: Sum) -> tuple[gt.Graph, torch.Tensor | None]:
    """The same sum for kernels that take no self loops and no mean: loops as edges, weights of any value."""
    graph = s.graph.with_loops() if s.self_weight is not None else gt.Graph.from_csr(s.graph.row_ptr, s.graph.col)
    weighted = s.weight is not None
    return graph, torch.rand(graph.m, device=graph.device) if weighted else None


def _baselines(add: Callable[..., None], facts: dict[str, Any], on: _Study) -> None:
    """cuSPARSE's best algorithm for the same sums, and its CSR_ALG2, the paper's baseline."""
    library = next((v for v in on.variants.values() if "cusparse" in v["id"] and v["id"] == "spmm.cusparse"), None)
    if library is None:
        return
    algorithms = dict(word.split("=", 1) for word in library["params"].split() if "=" in word)["alg"].split("|")
    best, second = 0.0, 0.0
    for s in on.sums:
        graph, weight = _looped(s)
        times: dict[str, float] = {}
        for algorithm in algorithms:
            for preprocess in (0, 1):
                config = f"spmm.cusparse{{alg={algorithm},preprocess={preprocess}}}"
                numbers = numbers_of(config=config, optional=False)
                try:
                    with torch.no_grad():
                        found = time_us(graph.device, lambda: run(graph, "spmm", numbers, s.x, weight, None))
                except (Unsupported, RuntimeError):
                    continue
                times[algorithm] = min(found, times.get(algorithm, found))
        best += min(times.values())
        second += times.get("csr_alg2", float("nan"))
    gt.release_captured()
    add(**facts, way="cuSPARSE", what="sums", value=best, unit="us", note="fastest algorithm")
    if second == second:
        add(**facts, way="cuSPARSE CSR_ALG2", what="sums", value=second, unit="us")


def _inference(add: Callable[..., None], facts: dict[str, Any], on: _Study, known: dict[str, Accuracy]) -> None:
    """A whole forward pass, as the host allows on a CUDA graph: exactly and in some ways."""
    model = on.models[0].eval()
    count = len(on.sums)
    ways = {"exact": None}
    for kind, S in (("bucket", 64), ("bucket", 512), ("fastrand", 64), ("fastrand", 512)):
        word = "; ".join([str(Rule(kind, S))] * count)
        if word in known:
            ways[word] = [layer.way for layer in known[word].layers]
    for word, way in ways.items():

        def forward(way: Any = way) -> None:
            with torch.no_grad(), scope(way):
                model(on.x, on.graph)

        add(**facts, way=word, what="inference", value=time_us(on.graph.device, forward), unit="us")
    gt.release_captured()


def _chosen(
    add: Callable[..., None],
    facts: dict[str, Any],
    on: dict[str, _Study],
    known: dict[str, dict[str, Accuracy]],
) -> None:
    """What the rule chooses by validation and loses on test: for all trainings together and for each alone."""
    for sure in (True, False):
        form = "by the interval's end" if sure else "by the mean"
        best = fastest(known["validation"].values(), MAX_LOSS, sure)
        if best is None or best.way not in known["test"]:
            add(**facts, way="exact", form=form, what="chosen, loss on test", value=0.0, unit="%", low=0.0, high=0.0)
        else:
            test = known["test"][best.way]
            add(
                **facts,
                way=best.way,
                form=form,
                what="chosen, loss on test",
                value=100 * test.loss,
                unit="%",
                low=100 * test.loss_low,
                high=100 * test.loss_high,
                note=f"sums {best.speedup:.4g} times as fast as our best exact",
            )
        alone = _alone(on, known, sure)
        for seed, (way, loss, error) in enumerate(alone):
            add(
                **facts,
                seed=seed,
                way=way,
                form=form,
                what="chosen for one training, loss on test",
                value=100 * loss,
                unit="%",
                high=100 * (MAX_LOSS + 2 * error),
            )
    _searched(add, facts, on["validation"])


def _alone(on: dict[str, _Study], known: dict[str, dict[str, Accuracy]], sure: bool) -> list[tuple[str, float, float]]:
    """For each training: the way that its own validation chooses, its loss on test, and that loss's standard error."""
    found = []
    times = {way: row for way, row in known["validation"].items() if way in on["test"].lost}
    for place in range(len(on["test"].models)):
        best: tuple[float, str] | None = None
        for way, row in times.items():
            loss, half = interval(on["validation"].lost[way][place : place + 1].float())
            allowed = (loss + half if sure else loss) <= MAX_LOSS and row.time_us < row.exact_us
            if allowed and (best is None or row.time_us < best[0]):
                best = (row.time_us, way)
        if best is None:
            found.append(("exact", 0.0, 0.0))
            continue
        loss, half = interval(on["test"].lost[best[1]][place : place + 1].float())
        found.append((best[1], loss, half / 1.96))
    return found


def _searched(add: Callable[..., None], facts: dict[str, Any], on: _Study) -> None:
    """The search layer by layer beside every combination of samples, unscaled, with three trainings."""
    few = _study(on.models[:3], on.graph, on.x, _labels_of(on), on.vertices, on.name, on.graph_name)
    few.times = on.times
    rules = few.rules(("bucket", "fastrand"), [s for s in SAMPLES if s < 1024], (False,), ())
    if len(few.sums) < 2 or not rules:
        return
    quick = fastest(few.run(rules, MAX_LOSS, False, None), MAX_LOSS)
    every = fastest(few.run(rules, MAX_LOSS, True, None), MAX_LOSS)
    exact = sum(few.layer_way(i, Rule()).time_us for i in range(len(few.sums)))  # type: ignore[union-attr]
    for form, row in (("layer by layer", quick), ("every combination", every)):
        value = exact if row is None else row.time_us
        add(**facts, way="exact" if row is None else row.way, form=form, what="searched", value=value, unit="us")


def _labels_of(on: _Study) -> torch.Tensor:
    labels = torch.zeros(on.graph.n_rows, dtype=torch.long, device=on.labels.device)
    return labels.index_put_((on.vertices,), on.labels)


def _dropped(
    add: Callable[..., None],
    facts: dict[str, Any],
    trained: list[Any],
    graph: gt.Graph,
    x: torch.Tensor,
    y: torch.Tensor,
    vertices: torch.Tensor,
) -> None:
    """ES-SpMM's figure 5: accuracy where a share of the edges is dropped at random, the rest normalised anew."""
    edges = graph.edge_index
    random = torch.Generator(device="cpu").manual_seed(0)
    for share in (0.0, *DROPPED):
        found = []
        for model in trained:
            keep = (torch.rand(edges.shape[1], generator=random) >= share).to(edges.device)
            rest = gt.Graph(edges[:, keep], graph.n_rows)
            with torch.no_grad():
                found.append(100 * float(models.hits(model(x, rest), y, vertices).float().mean()))
        add(
            **facts,
            way=f"{100 * share:.0f} % dropped",
            form="test",
            what="accuracy",
            value=statistics.mean(found),
            unit="%",
            low=min(found),
            high=max(found),
            repeats=len(found),
        )


__all__ = ["samples"]
