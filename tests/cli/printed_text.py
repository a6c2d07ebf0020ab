# Feeds names of files, graphs and devices, reasons of errata and words of the command line that hold control characters,
# line ends, marks of direction and bytes that are no UTF-8 through every verb, and looks at the raw bytes of stdout and
# stderr: printed_text.py PROGRAM GRAPH. Runs in an empty folder.
import csv
import io
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys

program, cora = sys.argv[1], sys.argv[2]
FORGED = b"gnntune: FORGED"
# All that a name of a file can hold, and what SQLite keeps as a text.
HOSTILE = (b"e\x1b[31m\x1b]0;PWNED\x07\r\t\x08\x7f\n" + FORGED + b"\n" +
           "\x85\x9b2J\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\U000e0041".encode())
INVALID = HOSTILE + b"\xff\xc0\xaf\xed\xa0\x80"
HIDDEN = [(0, 0x09), (0x0b, 0x1f), (0x7f, 0x9f), (0x61c, 0x61c), (0x180e, 0x180e), (0x200b, 0x200b), (0x200e, 0x200f),
          (0x2028, 0x202e), (0x2060, 0x206f), (0xfeff, 0xfeff), (0xfff9, 0xfffb), (0xe0000, 0xe007f)]
seen = 0  # outputs in which a hostile text stood, escaped


def fail(words, output=b""):
    print("FAILED:", words)
    print(repr(output[:3000]))
    sys.exit(1)


def look_at(output, what):
    global seen
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        fail(f"{what}: not UTF-8: {error}", output)
    for c in text:
        if any(first <= ord(c) <= last for first, last in HIDDEN):
            fail(f"{what}: raw U+{ord(c):04X}", output)
    if any(line.lstrip().startswith(FORGED.decode()) for line in text.split("\n")):
        fail(f"{what}: a name forged a line", output)
    seen += "\\x1b" in text or "\\u001b" in text


def run(*words, stdin=b"", codes=(0, 1, 2, 3, 4, 6, 7), env=None):
    words = [w.encode() if isinstance(w, str) else w for w in words]
    done = subprocess.run([program.encode(), *words], input=stdin, capture_output=True, timeout=120,
                          env={**os.environ, **(env or {})})
    look_at(done.stdout, f"stdout of {words}")
    look_at(done.stderr, f"stderr of {words}")
    if done.returncode not in codes:
        fail(f"{words}: exit code {done.returncode}", done.stdout + done.stderr)
    return done


def formats(*words, codes=(0, 1, 2, 3, 4, 6, 7)):
    """As a table, as JSON and as CSV, which must be what they say."""
    run(*words, codes=codes)
    as_json = run(*words, "--json", codes=codes).stdout
    if as_json:
        json.loads(as_json)
    as_csv = run(*words, "--csv", codes=codes).stdout.decode()
    rows = list(csv.reader(io.StringIO(as_csv), strict=True))
    if any(len(row) != len(rows[0]) for row in rows) or len(rows) != as_csv.count("\n"):
        fail(f"{words}: rows of different lengths, or of several lines", as_csv.encode())
    return as_json


def names_of_files():
    for name in HOSTILE, INVALID:
        graph = name + b".mtx.gz"
        shutil.copy(cora, graph)
        data = json.loads(formats("info", graph, codes=(0,)))["data"][0]
        if name == HOSTILE and data["source"] != graph.decode():
            fail("JSON does not hold the path as it is", data["source"].encode())
        # The database by such a name too: a graph is stored under its file's name.
        db = name + b".db"
        short = ("--dim", "4", "--device", "cpu", "--variant", "spmm.cpu_rows", "--max-samples", "5", "--db", db)
        formats("tune", *short, graph, codes=(0,))
        formats("tune", *short, "--dry-run", graph)
        formats("tune", "--step", "gcn", "--dim", "4", "--device", "cpu", "--max-samples", "5", "--db", db, graph)
        formats("bench", *short[:-2], "--db", db, "--compare", db, graph)
        formats("verify", "--dim", "1", "--device", "cpu", "--variant", "spmm.cpu_rows", graph)
        for verb in "predict", "profile", "explain":
            formats(verb, "--dim", "4", "--db", db, graph)
        formats("explain", "--step", "gcn", "--dim", "4", "--db", db, graph)
        formats("convert", graph, name + b".gnng")
        formats("convert", graph, b"no/" + name)
        formats("generate", "mesh", "-o", name + b".mtx")
        formats("paper", "tcgnn", "--figure", "7", graph, "--db", db)
        every_part_of_db(db, graph)
        formats("db", "diff", db, db)
        formats("db", "merge", db, "--db", name + b"2.db")
        formats("db", "rescue", db, name + b"3.db")
        run("db", "export", "--db", db, name + b".json")
        formats("db", "import", name + b".json", name + b"4.db")
        formats("doctor", "--db", db)
        formats("fit", "--db", db)
        formats("eval", db, db)
        # What is missing, damaged or no graph.
        for verb in "info", "tune", "bench", "verify", "explain", "predict":
            formats(verb, b"missing" + name, "--db", db)
        with open(name + b".junk", "wb") as file:
            file.write(b"no graph: " + INVALID)
        formats("info", name + b".junk")
        formats("db", "check", "--db", name + b".junk")
        formats("db", "merge", name + b".junk", "--db", db)
        formats("db", "import", name + b".junk", name + b"5.db")
        formats("eval", "--families", name + b".junk", db, db)
        os.makedirs(b"folder" + name, exist_ok=True)
        shutil.copy(graph, b"folder" + name)
        shutil.copy(name + b".junk", b"folder" + name)
        with open(b"folder" + name + b"/cut.mtx", "wb") as file:
            file.write(b"%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 " + INVALID + b"\n")
        formats("info", b"folder" + name)
        with open("list", "wb") as file:
            file.write(INVALID.replace(b"\n", b"") + b"\n")
        formats("info", "@list")


def every_part_of_db(db, graph):
    for what in "best", "graphs", "problems", "runs", "choices", "environments", "models", "steps":
        formats("db", "ls", what, "--db", db)
    for part in "check", "errata", "prune":
        formats("db", part, "--db", db)
    formats("db", "show", graph, "--db", db)
    formats("db", "show", b"missing" + HOSTILE, "--db", db)
    formats("db", "sql", b"select name, 1 as \"" + HOSTILE + b"\" from graph", "--db", db)
    formats("db", "sql", b"select " + HOSTILE, "--db", db)
    formats("db", "verify", "--sample", "1", "--db", db)
    run("db", "export", "--csv", "--db", db)
    run("db", "export", "--csv", "--best", "--db", db)
    document = run("db", "export", "--db", db).stdout
    if document:
        json.loads(document)
    return document


def words_of_the_command_line():
    for word in HOSTILE, INVALID:
        run(word)
        run("help", word)
        run("db", word)
        run(b"--" + word)
        run("tune", b"--" + word, cora)
        run("tune", cora, word)
        run("list", word)
        run("generate", word, "-o", "x.mtx")
        run("generate", "mesh", "--set", word, "-o", "x.mtx")
        run("generate", b"standin/" + word, "-o", "x.mtx")
        run("paper", word)
        run("convert", "--to", word, cora, "x")
        run("doctor", env={"GNNTUNE_PROFILES": os.fsdecode(word)})
        run("info", cora, env={"GNNTUNE_DEVICE": os.fsdecode(word)})
        run("tune", cora, env={"OMP_NUM_THREADS": os.fsdecode(word)})
        for option in ("--op", "--dim", "--heads", "--weights", "--direction", "--dtype", "--reduce", "--self-loop",
                       "--policy", "--clock", "--variant", "--budget", "--workspace-limit", "--device", "--step", "--from",
                       "--seed", "--db"):
            run("tune", option, word, cora)
        run("profile", "--config", word, cora)
        run("db", "errata", "add", word, "--reason", "r", "--db", "e.db")
        run("db", "errata", "add", b'device="' + word + b'"', "--reason", word, "--db", "e.db")
        formats("db", "errata", "--db", "e.db")
        run("db", "errata", "remove", word, "--db", "e.db")
        run("db", "errata", "remove", "1", "--db", "e.db")


def texts_of_a_database():
    """Every text of every table, one table at a time and all together, as another program may write them."""
    run("tune", cora, "--dim", "4", "--device", "cpu", "--max-samples", "5", "--db", "good.db", codes=(0,))
    run("tune", cora, "--step", "gcn", "--dim", "4", "--device", "cpu", "--max-samples", "5", "--db", "good.db")
    run("db", "errata", "add", "variant=spmm.cpu_rows", "--reason", "r", "--db", "good.db", codes=(0,))
    free = {"graph": ["name", "source"], "environment": ["device_name", "compute_capability", "libraries"],
            "run": ["command", "tool_version", "git_commit", "host"], "measurement": ["reason"], "choice": ["reason"],
            "step_choice": ["reason", "formats"], "erratum": ["reason"]}
    words = {"erratum": ["condition"], "problem": ["op", "text"], "measurement": ["config", "taken_at"],
             "choice": ["config", "source", "decided_at"], "environment": ["backend", "driver"],
             "variant": ["op", "backend"]}
    number = 0
    for columns in [free] + [{table: names} for table, names in {**free}.items()] + \
            [{table: [name]} for table, names in words.items() for name in names]:
        for text in HOSTILE + b"\0behind", INVALID:
            number += 1
            db = f"texts{number}.db"
            shutil.copy("good.db", db)
            with sqlite3.connect(db) as connection:
                for table, names in columns.items():
                    for name in names:
                        connection.execute(f'update {table} set "{name}" = cast(? as text)', (text,))
            read(db)
    document = run("db", "export", "--db", "good.db", codes=(0,)).stdout
    name = json.dumps("cora " + HOSTILE.decode(), ensure_ascii=False).encode()
    with open("given.json", "wb") as file:
        file.write(document.replace(b'"cora"', name))
    formats("db", "import", "given.json", "imported.db", codes=(0,))
    again = every_part_of_db("imported.db", cora)
    if "cora " + HOSTILE.decode() not in {g["name"] for g in json.loads(again)["graph"]}:
        fail("the exported document has lost a name", again)


def read(db):
    formats("db", "ls", "--db", db)
    for what in "graphs", "runs", "choices", "environments", "steps":
        run("db", "ls", what, "--db", db)
    formats("db", "check", "--db", db)
    formats("db", "show", cora, "--db", db)
    run("db", "show", "nothing", "--db", db)
    run("db", "errata", "--db", db)
    for more in (), ("--device", "cpu"), ("--step", "gcn"):
        formats("explain", cora, "--dim", "4", "--db", db, *more)
    run("db", "diff", "good.db", db)
    run("db", "diff", db, db)
    shutil.copy("good.db", "into.db")
    run("db", "merge", db, "--db", "into.db")
    run("db", "rescue", db, "rescued.db")
    if os.path.exists("rescued.db"):
        os.remove("rescued.db")
    run("db", "export", "--csv", "--db", db)
    run("db", "export", "--db", db)
    run("paper", "tcgnn", "--table", "5", "--db", db)
    run("predict", cora, "--dim", "4", "--on", "nothing", "--db", db)
    run("eval", db, db)
    run("fit", "--db", db, "--folds", "0")
    run("tune", cora, "--dim", "4", "--device", "cpu", "--variant", "spmm.cpu_rows,spmm.eigen", "--max-samples", "5", "--db", db)
    run("bench", cora, "--dim", "4", "--device", "cpu", "--variant", "spmm.cpu_rows", "--max-samples", "5", "--db", db)


def a_terminal():
    """There the program moves the cursor itself: its own sequences are taken off, and nothing may be left."""
    graph = HOSTILE + b".mtx.gz"
    main, side = pty.openpty()
    child = subprocess.Popen([program.encode(), "tune", graph, "--op", "spmm,sddmm,gat", "--dim", "16", "--device", "cpu", "--db", "t.db"],
                             stdin=subprocess.DEVNULL, stdout=side, stderr=side, env={**os.environ, "TERM": "xterm"})
    os.close(side)
    output = b""
    while True:
        try:
            more = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        output += more
    child.wait()
    if b"\r\x1b[K" not in output:
        fail("no line of progress on a terminal", output)
    look_at(re.sub(rb"\r\x1b\[K|\x1b\[(0|1|2|31|32|33)m|\r(?=\n)", b"", output), "a terminal")


words_of_the_command_line()
names_of_files()
texts_of_a_database()
a_terminal()
if seen < 200:
    fail(f"only {seen} outputs had a hostile text, escaped")
print(f"{seen} outputs had hostile texts, all of them escaped")
