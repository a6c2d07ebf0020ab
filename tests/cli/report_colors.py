"""Whether the colours of figures are told apart, also by people who are colour-blind, and whether words on them can be read:
report_colors.py figure.css

Colour blindness is simulated by Machado, Oliveira and Fernandes (2009), severity 1. Distances are CIE 1976 in Lab: 2 is about
what one can see side by side, 10 is told apart at a glance. Contrasts are those of WCAG 2.
"""
import itertools
import pathlib
import re
import sys

MATRICES = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
MARKS_APART, CELLS_APART, TEXT_CONTRAST, MARK_CONTRAST = 10, 7, 4.5, 2.4


def linear(color):
    color = color.lstrip("#")
    color = "".join(c * 2 for c in color) if len(color) == 3 else color
    parts = [int(color[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def seen(rgb, matrix):
    return [min(1.0, max(0.0, sum(m * c for m, c in zip(row, rgb)))) for row in matrix]


def lab(rgb):
    r, g, b = rgb
    xyz = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a, b, matrix):
    return sum((p - q) ** 2 for p, q in zip(lab(seen(linear(a), matrix)), lab(seen(linear(b), matrix)))) ** 0.5


def contrast(a, b):
    light = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(a), linear(b)))
    return (light[1] + 0.05) / (light[0] + 0.05)


def schemes(css):
    """Custom properties of light, and of both places where dark stands."""
    blocks = re.findall(r"\{([^{}]*--paper:[^{}]*)\}", css)
    return [dict(re.findall(r"--(\w+):\s*(#[0-9a-fA-F]+)", block)) for block in blocks]


def main():
    found = schemes(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    faults = []
    if len(found) != 3 or found[1] != found[2]:
        faults.append("expected light, and dark twice in the same colours")
    for name, colors in zip(("light", "dark"), found):
        marks = [f"c{i}" for i in range(8)] + ["lib"]
        cells = [f"t{i}" for i in range(8)] + ["tlib"]
        for group, apart in ((marks, MARKS_APART), (cells, CELLS_APART), ([f"s{i}" for i in range(6)], CELLS_APART)):
            for sight, matrix in MATRICES.items():
                pairs = sorted((distance(colors[a], colors[b], matrix), a, b) for a, b in itertools.combinations(group, 2))
                if "-v" in sys.argv:
                    print(name, sight, [(round(d, 1), a, b) for d, a, b in pairs[:4]])
                faults += [f"{name}, {sight}: {a} and {b} are {d:.1f} apart, at least {apart} are wanted" for d, a, b in pairs if d < apart]
        on = [(cell, "cell", TEXT_CONTRAST) for cell in cells + ["tother"] + [f"s{i}" for i in range(6)]]
        on += [("paper", text, TEXT_CONTRAST) for text in ("ink", "soft", "hot")] + [("wash", "ink", TEXT_CONTRAST), ("wash", "soft", TEXT_CONTRAST)]
        on += [("paper", mark, MARK_CONTRAST) for mark in marks + ["other"]]
        for ground, text, least in on:
            value = contrast(colors[ground], colors[text])
            if value < least:
                faults.append(f"{name}: {text} on {ground} has a contrast of {value:.2f}, at least {least} is wanted")
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


main()
