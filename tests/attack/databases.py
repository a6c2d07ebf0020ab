"""Databases that are damaged, or that somebody built to harm: every verb and an application read them."""
import shutil
import sqlite3

import base

TABLES = ["graph", "graph_name", "environment", "variant", "problem", "run", "measurement", "part", "counter", "choice", "step_choice",
          "step_call", "format_build", "device_constant", "model", "erratum", "accuracy", "accuracy_call"]
VIEWS = ["usable", "best", "counters", "choices", "steps", "accuracies"]


def verbs(field, db):
    """Everything that opens a database. The last ones write to it."""
    new = field.folder / "new.db"
    return [["db", "check"], ["db", "ls"], ["db", "ls", "choices"], ["db", "ls", "models"], ["db", "ls", "steps"], ["db", "ls", "graphs"],
            ["db", "ls", "runs"], ["db", "show", "cora"], ["db", "errata"], ["db", "export"], ["db", "export", "--csv"],
            ["db", "diff", field.good, db], ["db", "sql", "select * from best"], ["explain", "cora", "--dim", "4"],
            ["explain", "cora", "--step", "gcn", "--dim", "4"], ["predict", field.graph, "--dim", "4"], ["doctor"],
            ["paper", "tcgnn", "--table", "5"], ["eval", db], ["db", "rescue", db, new], ["db", "merge", db, "--db", new],
            ["db", "prune", "--dry-run"], ["tune", field.graph, "--dim", "4", "--device", "cpu", "--max-samples", "5", "--dry-run"],
            ["tune", field.graph, "--dim", "4", "--device", "cpu", "--max-samples", "5", "--budget", "5s"], ["db", "prune"]]


def all_verbs(field, db, some, words):
    """Runs some of the verbs, in their order, and the application first. Returns the number of runs."""
    picked = sorted(field.random.sample(range(len(verbs(field, db))), some))
    for i in picked:
        line = verbs(field, db)[i]
        if "--db" not in line:
            line = line + ["--db", db]
        base.remove_database(field.folder / "new.db")
        field.judge(field.run(*line), [db], where=f" ({words})")
    return len(picked)


def application(field, db, words):
    if not field.application:
        return 0
    ended = field.run(field.graph, "4", db, program=field.application)
    field.judge(ended, [db], codes={0, 1}, where=f" ({words})")
    return 1


def damaged(field, seconds):
    good = bytearray(field.good_database().read_bytes())
    db = field.folder / "damaged.db"
    runs = 0
    for i in base.Until(seconds):
        draw = field.random
        bytes_ = bytearray(good)
        kind = draw.choice(["bits", "bits", "bits", "cut", "zeros", "noise", "swap", "longer"])
        page = 4096
        if kind == "bits":
            for _ in range(draw.choice([1, 1, 2, 8, 64])):
                bytes_[draw.randrange(len(bytes_)) if draw.random() < 0.7 else draw.randrange(200)] ^= 1 << draw.randrange(8)
        elif kind == "cut":
            del bytes_[draw.randrange(len(bytes_)):]
        elif kind == "longer":
            bytes_ += draw.randbytes(draw.choice([1, 100, page, 5 * page]))
        else:
            at = draw.randrange(len(bytes_) // page) * page
            other = draw.randrange(len(bytes_) // page) * page
            new = {"zeros": bytes(page), "noise": draw.randbytes(page), "swap": bytes_[other:other + page]}[kind]
            bytes_[at:at + page] = new
        base.remove_database(db)
        db.write_bytes(bytes_)
        words = f"damaged file {i}, {kind}"
        runs += application(field, db, words) + all_verbs(field, db, 6, words)
    return runs


ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c)"


def scripts():
    """What a hostile hand can do to a schema: a name and the script."""
    for name in TABLES:
        yield f"an endless view in the place of {name}", f"""pragma legacy_alter_table = on; alter table "{name}" rename to kept;
            create view "{name}" as {ENDLESS} select kept.* from kept, c where c.x < 0"""
        yield f"{name} dropped", f'drop table "{name}"'
        yield f"{name} without its columns", f'drop table "{name}"; create table "{name}" (id integer primary key)'
        for event in "insert", "update", "delete":
            yield f"a trigger that deletes on {event} of {name}", f"""create trigger harm after {event} on "{name}" begin
                delete from choice; delete from erratum; end"""
    for name in VIEWS:
        yield f"view {name} endless", f"drop view {name}; create view {name} as {ENDLESS} select x as graph from c where x < 0"
        yield f"view {name} dropped", f"drop view {name}"
    yield "a trigger that never ends", f"create trigger harm after insert on measurement begin insert into graph_name {ENDLESS} select 1, x, '' from c; end"
    yield "a generated column", "alter table graph add column g text as (zeroblob(1000000000)) virtual"
    yield "an index on an expression", "create index harm on graph (hex(zeroblob(100000000)))"
    yield "a table too many", "create table more (x)"
    yield "a virtual table", "create virtual table harm using fts5(x)"
    yield "ten thousand tables", ";".join(f"create table t{i} (x)" for i in range(10000))
    yield "a schema of nonsense", "pragma writable_schema = on; update sqlite_schema set sql = 'create table graph (nonsense'  where name = 'graph'"
    yield "a root page of another table", """pragma writable_schema = on; update sqlite_schema
        set rootpage = (select rootpage from sqlite_schema where name = 'measurement') where name = 'choice'"""
    yield "a text of 10 MB", "update graph set name = hex(zeroblob(5000000))"
    yield "a newer schema", "pragma user_version = 99"
    yield "an older schema", "pragma user_version = 1"
    yield "another application's id", "pragma application_id = 7"


# What harms nobody, or is told by other means.
MAY_BE_SOUND = {"a table too many", "a virtual table", "ten thousand tables", "a text of 10 MB", "an older schema"}


def hostile(field, seconds):
    good = field.good_database()
    choices = len(base.rows_of(good, "select 1 from choice"))
    db = field.folder / "hostile.db"
    runs = 0
    every = list(scripts())
    field.random.shuffle(every)
    for i in base.Until(seconds):
        name, script = every[(i - 1) % len(every)]
        base.remove_database(db)
        shutil.copy(good, db)
        try:
            with sqlite3.connect(db) as connection:
                connection.executescript(script)
            connection.close()
        except sqlite3.Error:
            continue  # this SQLite does not let it be built
        check = field.run("db", "check", "--db", db)
        runs += 1
        field.judge(check, [db], where=f" ({name})")
        if check.code == 0 and name not in MAY_BE_SOUND:
            field.violation(f"db check calls it sound: {name}", [db])
        runs += application(field, db, name) + all_verbs(field, db, 5, name)
        if "trigger" in name and len(base.rows_of(db, "select 1 from choice")) < choices:
            field.violation(f"a verb has run it: {name}", [db])
    return runs


def attacks(field, share):
    yield "damaged databases", lambda: damaged(field, share)
    yield "hostile schemas", lambda: hostile(field, share)
