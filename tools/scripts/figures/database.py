"""What a database of `gnntune tune` has of each config: its newest measurement, of the newest version of its variant."""
import lzma
import pathlib
import sqlite3
import sys
import tempfile

NEWEST = """
select graph.name as graph, problem.*, problem.text as full_problem, policy, clock, measurement.variant, config, status,
       median_us, (ci_high_us - ci_low_us) / 2 as ci_us, device_name, driver, approximate
from measurement join graph on graph.id = graph_id join problem on problem.id = problem_id
join environment on environment.id = environment_id
where measurement.id in (select max(id) from measurement
                         group by graph_id, problem_id, policy, clock, config, variant_version)
  and variant_version = (select max(version) from variant where variant.id = measurement.variant)
  and not exists (select 1 from part where measurement_id = measurement.id
                  and part.variant_version < (select max(version) from variant where variant.id = part.variant))
order by measurement.id
"""
# Ops that weights make another problem of.
WEIGHTED = ("spmm", "spmm_grad", "sddmm", "gcn_norm")


def short_problem(row):
    """As the program's tables have it."""
    words = [f"{row['op']} k={row['k']}"]
    if row["heads"] != 1:
        words.append(f"heads={row['heads']}")
    words += [row[name] for name, usual in (("dtype", "f32"), ("reduce", "sum")) if row[name] != usual]
    if row["self_loop"]:
        words.append("self_loop")
    if not row["weighted"] and row["op"] in WEIGHTED:
        words.append("unweighted")
    if row["direction"] == "reversed":
        words.append("reversed")
    return " ".join(words)


def newest(path):
    """Its rows (sqlite3.Row), of one device and driver. `path` may end in .xz."""
    path = pathlib.Path(path)
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix == ".xz":
            plain = pathlib.Path(folder) / "plain.db"
            with lzma.open(path) as packed:
                plain.write_bytes(packed.read())
            path = plain
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            database.row_factory = sqlite3.Row
            rows = database.execute(NEWEST).fetchall()
        database.close()
    places = {(r["device_name"], r["driver"]) for r in rows}
    if len(places) > 1:
        sys.exit(f"{path}: expected measurements of one device and driver, it has those of "
                 + " and ".join(" ".join(place) for place in sorted(places)))
    return rows


def suite_rows(path, results):
    """Rows as kernel-figures packs them. `results`: rows of `gnntune tune --csv` over the same problems, from which come the
    roofline, the config that runs where nothing is known, and how many configs there are. Of a problem that has several,
    the one with the most configs counts: others are of named variants."""
    told = {}
    for r in results:
        key = r["graph"], r["problem"], r["policy"], r["clock"]
        if r["config"] and int(r["configs"]) >= int(told.get(key, r)["configs"]):
            told[key] = r
    for r in newest(path):
        if r["status"] == "refused" and r["config"] == r["variant"]:
            continue  # a variant that is not for this problem
        problem = short_problem(r)
        about = told.get((r["graph"], problem, r["policy"], r["clock"]))
        roofline = float(about["roofline_us"]) if about and about["roofline_us"] else None
        time = r["median_us"]
        yield {"graph": r["graph"], "problem": problem, "config": r["config"], "time_us": time or "",
               "ci_us": r["ci_us"] if time else "", "clock": r["clock"], "policy": r["policy"], "status": r["status"],
               "roofline_percent": 100 * roofline / time if time and roofline else "",
               "default": int(r["config"] == about["default_config"]) if about else "",
               "configs": about["configs"] if about else ""}
