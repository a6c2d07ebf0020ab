"""Odd command lines: verbs, options and values that do not belong together, words that no option takes, control
characters. Each must end by itself, with a documented exit code and printable words."""
import base

VERBS = ["tune", "bench", "verify", "profile", "fit", "predict", "eval", "explain", "info", "list", "convert", "generate", "db",
         "paper", "doctor", "help", "--version", "--help", "", "tnue"]
PARTS = ["ls", "show", "sql", "check", "diff", "merge", "prune", "rescue", "export", "import", "errata", "verify", "", "lss"]
OPTIONS = ["--op", "--dim", "--heads", "--weights", "--direction", "--dtype", "--reduce", "--self-loop", "--policy", "--clock",
           "--deterministic", "--expected-calls", "--max-error", "--allow-sampling", "--workspace-limit", "--variant",
           "--max-configs", "--again", "--dry-run", "--step", "--layers", "--format-limit", "--all", "--json", "--csv",
           "-q", "-v", "--no-color", "--seed", "--help", "-h", "--reverse", "--symmetric", "--merge-duplicates",
           "--remove-self-loops", "--ignore-weights", "--base", "--from", "--to", "--compare", "--across", "--fail-on",
           "--config", "--trees", "--depth", "--folds", "--top", "--on", "--sampling", "--l2-bytes", "--set", "--list", "-o",
           "--reason", "--best", "--run", "--only", "--sample", "--table", "--figure", "--crossing", "--js", "--", "---", "-"]
VALUES = ["spmm", "sddmm", "all", "gat", "nothing", "0", "1", "4", "-1", "1e9", "99999999999999999999", "nan", "inf", "", " ", ",",
          ",,", "4,", "=", "both", "yes", "no", "f32", "f16", "max", "hot", "cold", "cpu", "cuda", "cuda:7", "mtx", "gnng",
          "1MiB", "1ZB", "5s", "spmm.cpu_rows", "spmm.eigen{}", "spmm.cpu_rows{tile=}", "{}", "standin/", "standin/none", "@list",
          "@", "good.db", "missing.db", "cora.mtx.gz", "missing.mtx", ".", "no/such", "cora", "ffff",
          "select 1", "delete from graph", "tcgnn", "variant=spmm.eigen", "k>=", "x" * 5000, b"\xff\xfe", "\x1b[31m", "a\nb",
          "\u202e", "%s%n", "$(id)", "'", "mesh", "rmat", "add", "remove", "choices", "out.mtx", "out.json"]
# So that no line measures for long or looks at the machine.
QUICK = ["--device", "cpu", "--max-samples", "5", "--budget", "1s", "--db", "good.db"]


def line(field):
    draw = field.random
    verb = draw.choice(VERBS)
    words = [verb]
    if verb == "db":
        words.append(draw.choice(PARTS))
    for _ in range(draw.randrange(6)):
        words.append(draw.choice(OPTIONS if draw.random() < 0.5 else VALUES))
    if draw.random() < 0.4:
        words.append("cora.mtx.gz")
    for option, value in zip(QUICK[::2], QUICK[1::2]):
        takes = {"--device": True, "--db": True, "--max-samples": verb in ("tune", "bench"), "--budget": verb == "tune"}
        if takes[option] and draw.random() < 0.95:
            words += [option, value]
    draw.random() < 0.1 and draw.shuffle(words)
    return [w for w in words if w not in ("\0",)]


def attack(field, seconds):
    good = field.good_database().read_bytes()
    for i in (rounds := base.Until(seconds)):
        field.good.write_bytes(good)
        words = line(field)
        field.judge(field.run(*words), where=f" (line {i})")
        for left in field.folder.glob("out.*"):
            left.unlink()
    field.good.write_bytes(good)
    return rounds.count


def attacks(field, share):
    yield "odd command lines", lambda: attack(field, share)
