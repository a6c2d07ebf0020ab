"""What report_test.sh asks about pages.

    report_page.py well_formed PAGE.html
    report_page.py same_numbers PAGE.html REPORT.json SHOW.json    of `gnntune report --json`, `gnntune db show --json`
    report_page.py pictures FOLDER
    report_page.py hostile DATABASE                                gives its graphs names that nobody would
"""
import html.parser
import json
import pathlib
import sqlite3
import sys
import xml.etree.ElementTree

VOID = {"meta", "br", "hr", "img", "input", "link"}
OPTIONAL_END = {"td", "tr"}  # the page leaves them out


class Page(html.parser.HTMLParser):
    """Every element is closed where it was opened, no id is twice there, and scripts are ours alone."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.ids = set()
        self.faults = []
        self.tables = []  # rows of cells, below the figure or heading they belong to
        self.cell = None
        self.figure = ""
        self.scripts = 0

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.faults.append(f"<{tag}> has an attribute twice")
        for name, value in attributes:
            if name.startswith("on"):
                self.faults.append(f"<{tag} {name}>")
            if name == "id":
                if value in self.ids:
                    self.faults.append(f"id {value} twice")
                self.ids.add(value)
                if tag == "figure":
                    self.figure = value
        self.scripts += tag == "script"
        if tag in ("td", "tr") and self.open[-1:] == ["td"]:
            self.open.pop()
        if tag == "tr" and self.open[-1:] == ["tr"]:
            self.open.pop()
        if tag == "table":
            self.tables.append((self.figure, []))
        if tag == "tr":
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.cell = ""
            self.tables[-1][1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in OPTIONAL_END and self.open[-1] != tag:
            self.open.pop()
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]} at {self.getpos()}")
        else:
            self.open.pop()
        if tag in ("th", "table"):
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None and self.tables and self.tables[-1][1]:
            self.tables[-1][1][-1][-1] += data


def read(path):
    page = Page()
    page.feed(pathlib.Path(path).read_text(encoding="utf-8"))
    page.close()
    return page


def well_formed(path):
    page = read(path)
    if page.open:
        page.faults.append(f"left open: {page.open}")
    if page.scripts != 1:
        page.faults.append(f"{page.scripts} scripts")
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for c in text:
        if ord(c) < 32 and c != "\n" or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029":
            page.faults.append(f"character {ord(c):#x}")
            break
    return page.faults[:10]


def same_numbers(path, report_path, show_path):
    """The graph that SHOW is about: every time of every config, in the JSON exactly and in the page as it is rounded."""
    report = json.load(open(report_path))["data"][0]
    show = json.load(open(show_path))["data"][0]
    faults = []
    newest = {}
    for m in show["measurements"]:
        key = (m["problem"], m["policy"], m["clock"], m["config"])
        if key not in newest or (m["run"], m["taken_at"]) >= (newest[key]["run"], newest[key]["taken_at"]):
            newest[key] = m
    compared = 0
    for setting in report["settings"]:
        for problem in setting["problems"]:
            if problem["fingerprint"] != show["fingerprint"]:
                continue
            best = [b for b in show["best"] if (b["problem"], b["policy"], b["clock"]) == (problem["problem"], setting["policy"], setting["clock"])]
            if len(best) != 1 or best[0]["config"] != problem["fastest"]:
                faults.append(f"the fastest of {problem['problem']}: {problem['fastest']}, db show: {best}")
            for config in problem["configs"]:
                m = newest.get((problem["problem"], setting["policy"], setting["clock"], config["config"]))
                compared += 1
                if m is None or m["status"] != config["status"] or config["median_us"] != m["median_us"]:
                    faults.append(f"{config['config']} of {problem['problem']}: {config['median_us']}, db show: {m and m['median_us']}")
    if compared < 20:
        faults.append(f"only {compared} configs were compared")
    # What people see.
    tables = dict(read(path).tables[::-1])
    shown = 0
    for i, setting in enumerate(report["settings"]):
        rows = tables[f"won-{i + 1}"]
        head = rows[0]
        at = {name: next(c for c, title in enumerate(head) if title.startswith(name)) for name in ("graph", "k", "config", "time")}
        for problem in setting["problems"]:
            row = [r for r in rows[1:] if r[at["graph"]].strip() == problem["graph"] and r[at["k"]].strip() == str(problem["k"])]
            shown += 1
            if len(row) != 1 or row[0][at["config"]].strip() != problem["won"] or abs(float(row[0][at["time"]]) - problem["won_us"]) > 0.00501:
                faults.append(f"the page says {row} of {problem['graph']}, {problem['problem']}: {problem['won']} {problem['won_us']}")
    if shown < 4:
        faults.append(f"only {shown} rows were compared")
    return faults[:10]


def pictures(folder):
    faults = []
    files = sorted(pathlib.Path(folder).glob("*.svg"))
    for file in files:
        root = xml.etree.ElementTree.parse(file).getroot()
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        if not tags <= {"svg", "title", "desc", "style", "rect", "path", "text", "g"}:
            faults.append(f"{file.name}: {tags}")
        said = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
        if "n = " not in said or "clock" not in said:
            faults.append(f"{file.name}: no n or no clock")
    if not files:
        faults.append("no figure")
    return faults


def hostile(path):
    names = ["<script>alert(1)</script>", "\"' onload=alert(2) x='\n\r\x1b[31m]]>", "\u202eשלום\u2066 & &amp; <b>" + "x" * 4096]
    with sqlite3.connect(path) as db:
        for number, (graph,) in enumerate(db.execute("select id from graph").fetchall()):
            db.execute("update graph set name = ?, source = ? where id = ?", (names[number % 3], names[(number + 1) % 3], graph))
        db.execute("update environment set device_name = ?", (names[2],))
        db.execute("update run set command = ?", (names[0] + names[2],))
    return []


faults = globals()[sys.argv[1]](*sys.argv[2:])
for fault in faults:
    print(fault)
sys.exit(bool(faults))
