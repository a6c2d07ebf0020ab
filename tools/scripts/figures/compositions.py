"""Where a composition of other ops is our fastest, and what its parts are."""
import statistics
from collections import Counter, defaultdict

from figures.suite import composed, fused, is_composed, own


def parts_of(config):
    """[(param, variant)] of a composition's config text; a part may have params, and so braces, of its own."""
    depth, words, word = 0, [], ""
    for letter in config.partition("{")[2][:-1]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            words.append(word)
            word = ""
        else:
            word += letter
    return [(name, value.partition("{")[0]) for name, _, value in (w.partition("=") for w in words + [word])]


def compositions_table(suite):
    """A row for each op and policy that has compositions."""
    kinds = defaultdict(list)  # op and policy -> [(the fastest fused kernel's time / ours, fastest config)]
    for graph, problem in suite.cases:
        mine, one = (suite.best(graph, problem, kind) for kind in (own, fused))
        if suite.best(graph, problem, composed) and mine and one:
            what, under, policy = problem.partition(" under ")
            kinds[what.partition(" ")[0] + under + policy].append((one[0] / mine[0], mine[1]))
    lines = []
    for kind, found in sorted(kinds.items()):
        won = [(ratio, config) for ratio, config in found if is_composed(config.partition("{")[0])]
        names = Counter(f"{name} `{variant}`" for _, config in won for name, variant in parts_of(config))
        parts = ", ".join(f"{name} {count}" for name, count in sorted(names.items(), key=lambda n: (-n[1], n[0])))
        ratio = f"{statistics.geometric_mean(r for r, _ in won):.2f}x" if won else ""
        lines.append(f"| `{kind}` | {len(found)} | {len(won)} | {ratio} | {parts} |")
    return lines and ["Compositions: in how many problems one is our fastest, how many times as fast it then is as the fastest fused kernel, and its parts "
                      "(`default`: what runs where nothing is known of the part):", "",
                      "| op | problems | a composition is the fastest | times as fast | parts |", "|---|---|---|---|---|"] + lines
