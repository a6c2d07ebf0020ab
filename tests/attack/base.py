"""What the attacks share: running a program as a victim, judging how it ended, and the material that they spoil."""
import dataclasses
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# docs/commands.md, "Exit codes".
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 130}
# What no person should ever read: a sanitizer, an exception that nobody put into words, an aborted process.
RAW = re.compile(rb"AddressSanitizer|runtime error:|terminate called|what\(\):|filesystem error|std::|basic_string|"
                 rb"this is a fault of gnntune|bad_alloc|Assertion")
# What an application says of its own exceptions is its own affair.
APPLICATION_RAW = re.compile(rb"AddressSanitizer|runtime error:|terminate called|glibc error|Assertion|libgomp: ")
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
HANG_S = 60


@dataclasses.dataclass
class Ended:
    words: list
    code: int  # negative: by that signal; None: it hung
    out: bytes
    err: bytes

    def complaint(self, codes=DOCUMENTED, raw=RAW):
        """Why this end is a violation; nothing if it is none."""
        if self.code is None:
            return f"still ran after {HANG_S} s"
        if self.code < 0:
            return f"ended by {signal.Signals(-self.code).name}"
        if self.code not in codes:
            return f"exit code {self.code}"
        if self.code != 0 and not self.err and not self.out:
            return f"exit code {self.code} without a word"
        for stream in self.out, self.err:
            if found := raw.search(stream):
                return f"says '{found.group().decode()}'"
        for name, stream in ("stdout", self.out), ("stderr", self.err):
            try:
                if found := HIDDEN.search(stream.decode()):
                    return f"{name} has the raw character U+{ord(found.group()):04X}"
            except UnicodeDecodeError:
                return f"{name} is not UTF-8"
        return None


class Field:
    """Where the attacks run: the programs, a folder, what is random, and the count of one attack."""

    def __init__(self, options, folder):
        self.program = options.program
        self.application = options.application
        self.harness = options.harness
        self.failing_malloc = options.failing_malloc
        self.seed = options.seed
        self.keep = options.keep
        self.folder = pathlib.Path(folder)
        self.graph = self.folder / "cora.mtx.gz"
        shutil.copy(ROOT / "data" / "cora.mtx.gz", self.graph)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("GNNTUNE", "XDG_"))}
        self.environment.update(HOME=str(self.folder), GNNTUNE_PROFILES="", CUDA_VISIBLE_DEVICES="-1", LC_ALL="C",
                                OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
        self.attacks = []
        self.violations = []
        self.good = self.folder / "good.db"

    def begin(self, name):
        """A new attack; its numbers are drawn from its own name, so that one attack alone repeats what it did among all."""
        self.attacks.append(name)
        self.random = random.Random(f"{self.seed} {name}")

    def violation(self, words, files=()):
        name = self.attacks[-1]
        self.violations.append((name, words))
        print(f"VIOLATION  {name}: {words}", flush=True)
        if self.keep:
            place = pathlib.Path(self.keep) / f"{name.replace(' ', '_')}-{len(self.violations)}"
            place.mkdir(parents=True, exist_ok=True)
            (place / "words").write_text(words + "\n")
            for file in files:
                if pathlib.Path(file).exists():
                    shutil.copy(file, place)

    def run(self, *words, program=None, environment=None, limits=None, seconds=HANG_S):
        words = [str(program or self.program), *map(str_or_bytes, words)]
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 cwd=self.folder, env={**self.environment, **(environment or {})}, preexec_fn=limits)
        try:
            out, err = child.communicate(timeout=seconds)
            return Ended(words, child.returncode, out, err)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            return Ended(words, None, out, err)

    def judge(self, ended, files=(), codes=DOCUMENTED, where=""):
        of_application = self.application and ended.words[0] == str(self.application)
        complaint = ended.complaint(codes, APPLICATION_RAW if of_application else RAW)
        if complaint:
            shown = " ".join(w if isinstance(w, str) else repr(w) for w in ended.words[1:])
            self.violation(f"{complaint}: {pathlib.Path(ended.words[0]).name} {shown}{where}; "
                           f"{ended.err[-300:].decode(errors='replace')!r}", files)
        return complaint is None

    def made(self, *words):
        """Material: what must work for there to be anything to attack."""
        ended = self.run(*words)
        if ended.code != 0:
            raise SystemExit(f"tests/attack/run: {words} ended with {ended.code}: {ended.err.decode(errors='replace')}")

    def good_database(self):
        """A database with something in every table that a CPU fills."""
        if not self.good.exists():
            device = ("--device", "cpu", "--max-samples", "5", "--db", self.good, "-q")
            self.made("tune", self.graph, "--op", "spmm,sddmm,gat", "--dim", "4,16", *device)
            self.made("tune", self.graph, "--step", "gcn", "--dim", "4", *device)
            self.made("db", "errata", "add", "variant=spmm.eigen k>=1000", "--reason", "an example", "--db", self.good)
            self.made("generate", "uniform", "--n-rows", "300", "--m", "2000", "-o", self.folder / "small.gnng")
            self.made("tune", self.folder / "small.gnng", "--dim", "4", *device)
            self.made("fit", "--op", "spmm", "--device", "cpu", "--trees", "4", "--folds", "0", "--db", self.good, "-q")
        return self.good


def str_or_bytes(word):
    return word if isinstance(word, bytes) else str(word)


def rows_of(path, query):
    """What a SQLite of our own reads, with the write-ahead log."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30) as connection:
        rows = connection.execute(query).fetchall()
    connection.close()
    return rows


def remove_database(path):
    for side in "", "-wal", "-shm", "-journal":
        pathlib.Path(str(path) + side).unlink(missing_ok=True)
    for left in pathlib.Path(path).parent.glob(pathlib.Path(path).name + ".*"):
        left.unlink() if left.is_file() else shutil.rmtree(left)


class Until:
    """Rounds until a time; at least one."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.count = 0

    def __iter__(self):
        while self.count == 0 or time.monotonic() < self.end:
            self.count += 1
            yield self.count
