"""SIGKILL and SIGINT at random moments of what writes: nothing that was committed may be lost, and what is one commit is
there whole or not at all."""
import shutil
import signal
import subprocess
import time

import base

MEASURED = "select taken_at, config, median_us, status, sm_clock_mhz, samples from measurement order by 1, 2, 3"
CHOSEN = "select graph_id, problem_id, environment_id, policy, clock, config from choice order by 1, 2, 3, 4, 5"
USED = "select config, median_us, taken_at from usable join choice using (graph_id, environment_id, problem_id, policy, clock, config)"
COUNTS = ("graph", "environment", "problem", "run", "measurement", "part", "choice", "model", "erratum")


def count_all(path):
    return {table: base.rows_of(path, f"select count(*) from {table}")[0][0] for table in COUNTS}


def has_all(some, rows):
    """Whether each row of `rows` is among `some`, as often."""
    left = list(some)
    for row in rows:
        if row not in left:
            return False
        left.remove(row)
    return True


class Victim:
    def __init__(self, field):
        self.field = field
        self.db = field.folder / "victim.db"
        self.other = field.folder / "other.db"
        self.document = field.folder / "other.json"
        if not self.other.exists():
            field.good_database()
            self.field.made("generate", "uniform", "--n-rows", "500", "--m", "4000", "--seed", "2", "-o", field.folder / "two.gnng")
            for _ in range(2):  # repeats, so that there is something to prune
                self.field.made("tune", field.folder / "two.gnng", field.graph, "--op", "spmm,sddmm", "--dim", "4,8,16", "--device", "cpu",
                                "--max-samples", "5", "--again", "--db", self.other, "-q")
            self.field.made("db", "export", self.document, "--db", self.other)

    def begin(self, what):
        base.remove_database(self.db)
        if what == "import into nothing":
            return
        shutil.copy(self.other if what == "prune" else self.field.good, self.db)

    def words(self, what):
        return {"tune": ["tune", "two.gnng", "--op", "spmm,sddmm,gat", "--dim", "4,8,32", "--weights", "both", "--device", "cpu",
                         "--max-samples", "5", "--exhaustive"],
                "merge": ["db", "merge", self.other],
                "import": ["db", "import", self.document],
                "import into nothing": ["db", "import", self.document],
                "prune": ["db", "prune"]}[what] + ["--db", self.db]

    def round(self, what, number, longest_s):
        """One victim. Returns whether the signal hit it, and what is wrong."""
        field = self.field
        self.begin(what)
        before = base.rows_of(self.db, MEASURED) if self.db.exists() else []
        chosen = base.rows_of(self.db, CHOSEN) if self.db.exists() else []
        used = base.rows_of(self.db, USED) if self.db.exists() else []
        counts = count_all(self.db) if self.db.exists() else None
        words = [str(w) for w in [field.program, *self.words(what)]]
        child = subprocess.Popen(words, cwd=field.folder, env=field.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(field.random.uniform(0, longest_s))
        # What another reader has seen is committed.
        committed = before
        if what == "tune":
            committed = base.rows_of(self.db, MEASURED)
        child.send_signal(number)
        try:
            out, err = child.communicate(timeout=base.HANG_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return True, f"{what}: still ran {base.HANG_S} s after {number.name}"
        hit = child.returncode == -number or (number == signal.SIGINT and child.returncode in (130, -signal.SIGINT))
        if not hit and child.returncode != 0:
            return hit, f"{what}: exit code {child.returncode} after {number.name}: {err[-300:]!r}"
        if not self.db.exists():
            # Nothing was there, and nothing is: an import that was cut short.
            return hit, None if counts is None and hit else f"{what}: the database is gone after {number.name}"
        check = field.run("db", "check", "--db", self.db)
        if check.code != 0:
            return hit, f"{what}: db check ends with {check.code} after {number.name}: {check.out[-300:]!r} {check.err[-300:]!r}"
        after = base.rows_of(self.db, MEASURED)
        if what == "prune":
            if base.rows_of(self.db, CHOSEN) != chosen or not has_all(base.rows_of(self.db, USED), used):
                return hit, f"prune: choices, or what they rest on, are not what they were after {number.name}"
            return hit, None
        if not has_all(after, committed):
            return hit, f"{what}: committed measurements are gone after {number.name}: {len(committed)} before, {len(after)} now"
        if what != "tune":
            now = count_all(self.db)
            whole = self.whole[what]
            if now != counts and now["measurement"] != whole["measurement"]:
                return hit, f"{what}: taken in by half after {number.name}: {now}, neither {counts} nor {whole}"
        if not hit:
            return hit, None
        again = field.run(*self.words(what)) if field.random.random() < 0.2 else None
        if again and again.code != 0:
            return hit, f"{what}: the same command ends with {again.code} after {number.name}: {again.err[-300:]!r}"
        return hit, None

    def length_s(self, what):
        """How long it takes undisturbed, and what stands there then."""
        self.begin(what)
        start = time.monotonic()
        self.field.made(*self.words(what))
        took = time.monotonic() - start
        self.whole = {**getattr(self, "whole", {}), what: count_all(self.db)}
        return took


def attack(field, number, seconds):
    victim = Victim(field)
    kinds = ["tune", "merge", "import", "import into nothing", "prune"]
    lengths = {what: victim.length_s(what) for what in kinds}
    tries = 0
    for i in base.Until(seconds):
        what = kinds[i % len(kinds)]
        hit, wrong = victim.round(what, number, lengths[what])
        tries += hit
        if wrong:
            field.violation(wrong, [victim.db, str(victim.db) + "-wal"])
    return tries


def attacks(field, share):
    yield "kill -9 while writing", lambda: attack(field, signal.SIGKILL, share)
    yield "Ctrl-C while writing", lambda: attack(field, signal.SIGINT, share)
