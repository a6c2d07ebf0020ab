"""What choices without measurements and searches were meant to reach, and whether they do: the table at the head of docs/tuning.md."""
import pathlib
import sys

from figures import tables
from figures.corpus import ratios_of

MEASURED = pathlib.Path(__file__).resolve().parents[3] / "profiles" / "measured"
RULE = "model_or_default"
OPS = ("spmm", "sddmm", "spmm_grad", "gat", "gat_grad", "agnn", "agnn_grad", "attention", "attention_grad")
FIRST, THREE, SEARCHED = "first choice (`model`)", "fastest of its first three (`model_3`)", "search (`guided`)"


def read(name):
    return tables.read(MEASURED / name)


def row(what, aim, found, reached, link):
    return f"| {what} | {aim} | {found} | {'yes' if reached else 'no'} | {link} |"


def least(found):
    """(op, value) of the least."""
    return min(found.items(), key=lambda f: f[1])


def of_the_default(rows):
    """The default of `spmm` beside cuSPARSE's fastest algorithm."""
    ratios = ratios_of(rows, "library_us", "default_us")
    slower, worst = ratios.below(1), ratios.worst()[0]
    what, link = f"default of `spmm` on the H200's corpus, {len(ratios.cases):,} problems", "[the default](#the-default)"
    yield row(f"{what}: slower than cuSPARSE's fastest", "in 40 at most", f"in {slower}", slower <= 40, link)
    yield row("the same: cuSPARSE's time divided by its, worst case", "0.85", f"{worst:.3f}", worst >= 0.85, link)


def of_models(choices):
    """First choices by models as they are shipped, on graphs of the H200."""
    def scores(parts, strategy, column):
        """op -> score, of the last part that has the op."""
        return {r["op"]: float(r[column]) for part in parts for r in choices if (r["part"], r["strategy"], r["kind"]) == (part, strategy, "all")}

    plain, kinds = ("spmm_both",), ("kinds_spmm_both", "kinds_ops_both")
    mean, worst = (scores(plain, RULE, column)["spmm"] for column in ("geomean_percent", "worst_percent"))
    link = "[without measurements](#without-measurements)"
    yield row(f"first choice (`{RULE}`) of `spmm`, the H200's plain problems: mean", "97", f"{mean:.2f}", mean >= 97, link)
    yield row("the same: worst case", "85", f"{worst:.1f}", worst >= 85, link)
    means, worsts = (scores(kinds, RULE, column) for column in ("geomean_percent", "worst_percent"))
    if missing := [op for op in OPS if op not in means]:
        sys.exit(f"nvidia_h200_choices.csv.gz: no row of {RULE} of {', '.join(missing)} in {', '.join(kinds)}; tools/model-figures --measure makes them")
    link = "[kinds of problems](#kinds-of-problems)"
    op, low = least(means)
    yield row(f"first choice (`{RULE}`) of each op, the H200's problems of all kinds: mean", "95", f"{low:.2f} or more (`{op}`)", low >= 95, link)
    missed = [f"`{op}` {value:.1f}" for op, value in worsts.items() if value < 75]
    op, low = least(worsts)
    found = f"{len(worsts) - len(missed)} of {len(worsts)} ops; not {', '.join(missed)}" if missed else f"{low:.2f} or more (`{op}`)"
    yield row("the same: worst case", "75", found, not missed, link)


def of_chips(transfer):
    """`spmm` by a model of the other GPU."""
    link = "[another GPU](chips.md#one-gpus-models-on-another)"
    for part, few, words in (("h200", "0", "taught by the H100, asked on the H200"),
                             ("h100", "0_alike", "taught by the H200, asked on the H100 about the same plain problems"),
                             ("h100", "0", "taught by the H200, asked on the H100 about all that it measured")):
        of = {r["strategy"]: r for r in transfer if (r["part"], r["few"], r["op"]) == (part, few, "spmm")}
        for strategy, what, column, aim in (("model", FIRST, "geomean_percent", 95), ("model", FIRST, "worst_percent", 75),
                                            ("model_3", THREE, "geomean_percent", 99), ("guided", SEARCHED, "geomean_percent", 99.8)):
            if strategy not in of:
                sys.exit(f"chips_transfer.csv: no row of {part}, spmm, {few}, {strategy}; tools/chip-figures --measure makes it")
            value = float(of[strategy][column])
            name = "the same: worst case" if column == "worst_percent" else f"{what} of `spmm`, {words}: mean"
            yield row(name, aim, f"{value:.1f}", value >= aim, link)


def aims_table(choices):
    """A row for each aim. `choices`: rows of nvidia_h200_choices.csv.gz."""
    yield "| what | aim | found | reached | where |"
    yield "|---|---|---|---|---|"
    yield from of_the_default(read("nvidia_h200_spmm_corpus.csv.gz"))
    yield from of_models(choices)
    yield from of_chips(read("chips_transfer.csv"))


def in_readme(choices):
    """README's words on first choices of `spmm` by models of both GPUs."""
    (here,) = (r for r in choices if (r["part"], r["op"], r["strategy"]) == ("spmm_both", "spmm", RULE))
    (there,) = (r for r in read("chips_transfer.csv") if (r["part"], r["few"], r["strategy"]) == ("h100", "both", RULE))
    mean, worst = ([f"{float(r[column]):.1f}" for r in (here, there)] for column in ("geomean_percent", "worst_percent"))
    return (f"{mean[0]} % of the fastest one's speed on the H200, {worst[0]} % at worst ([{int(here['cases']):,} plain problems](docs/tuning.md#without-measurements)). "
            f"On the H100 it is {mean[1]} %, {worst[1]} % at worst ([{int(there['cases']):,} of all kinds](docs/chips.md#one-gpus-models-on-another))")
