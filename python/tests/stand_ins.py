"""Stand-ins for the NVIDIA libraries that torch's wheel is linked with and that this machine has not.

    python3 stand_ins.py FOLDER_OF_TORCH

torch from PyPI imports only where they are found, and they are three times its size. On a machine without a GPU none of
their functions is called: a shared library with the same names does, compiled here in a second. Libraries that are here
(a CUDA toolkit's) are left to the loader. Prints the names of those that were made.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What `import torch` loads. libcaffe2_nvrtc and libtorch_cuda_linalg are opened at the first call for a GPU.
ROOTS = ("libtorch_python.so", "libtorch_global_deps.so")
# Where torch's libraries look before the loader's own places, relative to the folder `torch`.
SEARCHED = "../nvidia/cu13/lib"


def lines(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def needed(library: Path) -> list[str]:
    return [
        found[1]
        for line in lines("readelf", "-dW", str(library))
        if (found := re.search(r"\(NEEDED\).*\[(.+)\]", line))
    ]


def symbols(library: Path, which: str) -> set[str]:
    """`name` or `name@VERSION`; undefined ones without those that may stay so."""
    found = set()
    for line in lines("nm", "-D", "--with-symbol-versions", f"--{which}-only", str(library)):
        *_, kind, name = line.split()
        if which == "defined" or kind == "U":
            found.add(name.replace("@@", "@"))
    return found


def main(torch: Path) -> None:
    known = dict(re.findall(r"^\s*(\S+) \(libc6,x86-64.*\) => (\S+)$", "\n".join(lines("ldconfig", "-p")), re.M))
    own = {path.name: path for path in [*torch.glob("lib/*.so*"), *torch.glob("../nvidia/*/lib/*.so*")]}
    missing: set[str] = set()
    loaded: dict[str, Path] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        path = own.get(name) or (Path(known[name]) if name in known else None)
        if path is None:
            missing.add(name)
        elif name not in loaded:
            loaded[name] = path
            if name in own:
                waiting += needed(path)
    wanted = set().union(*(symbols(path, "undefined") for name, path in loaded.items() if name in own))
    there = set().union(*(symbols(path, "defined") for path in loaded.values()))
    wanted -= there | {symbol.partition("@")[0] for symbol in there}  # who names no version takes any
    # The interpreter's are there when torch is loaded.
    wanted = {symbol for symbol in wanted if not symbol.startswith(("Py", "_Py"))}
    if not missing:
        if wanted:
            sys.exit(
                f"the libraries here lack {len(wanted)} functions that torch wants, {sorted(wanted)[0]} among them"
            )
        return
    versions: dict[str, list[str]] = {}
    for symbol in sorted(wanted):
        name, _, version = symbol.partition("@")
        versions.setdefault(version, []).append(name)
    folder = torch / SEARCHED
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        source, script = Path(work, "names.c"), Path(work, "names.map")
        # 999: an error of every one of these libraries.
        source.write_text(
            "".join(f"int {name}(void) {{ return 999; }}\n" for names in versions.values() for name in names)
        )
        script.write_text("".join(f"{v} {{ {'; '.join(names)}; }};\n" for v, names in versions.items() if v))
        options = ["-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,--version-script={script}"]
        # Which of them a function would be in does not matter to the loader: all are in each.
        for name in sorted(missing):
            subprocess.run(["cc", *options, f"-Wl,-soname,{name}", "-o", str(folder / name), str(source)], check=True)
            print(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
