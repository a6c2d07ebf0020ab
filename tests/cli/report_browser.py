"""What a browser makes of reports: report_browser.py FULL.html EMPTY.html DAMAGED.html HOSTILE.html [PICTURES]

FULL is of two graphs or more. PICTURES: a folder for screenshots to look at.
"""
import pathlib
import sys

from browser import Browser


def check(holds, words):
    if not holds:
        sys.exit(f"not so: {words}")


def quiet(page):
    check(page.complaints() == [], f"the console is quiet: {page.complaints()}")
    check(page.requests() == [], f"nothing is loaded: {page.requests()}")


def every_section_shows_something(page):
    bare = page.run("""Array.from(document.querySelectorAll("section"))
        .filter((s) => !s.querySelector("svg") && !s.querySelector(".nothing")).map((s) => s.id)""")
    check(bare == [], f"every section has a figure or says why not: {bare}")
    check(page.run("document.querySelectorAll('section').length") == 8, "there are eight sections")
    check(page.run("Array.from(document.querySelectorAll('svg')).every((s) => s.getAttribute('aria-label'))"), "figures have words")


def with_scripts(page, pictures):
    every_section_shows_something(page)
    check(page.run("!document.getElementById('tools').hidden"), "the tools are there")
    # A click on a head sorts, another turns it round.
    column = """(() => { const t = document.querySelector('#won-1 table');
        const at = Array.from(t.tHead.rows[0].cells).findIndex((c) => c.textContent.startsWith('time'));
        return Array.from(t.tBodies[0].rows).map((r) => Number(r.cells[at].textContent)); })()"""
    click = """(() => { const t = document.querySelector('#won-1 table'); t.closest('details').open = true;
        Array.from(t.tHead.rows[0].cells).find((c) => c.textContent.startsWith('time')).querySelector('button').click(); })()"""
    before = page.run(column)
    page.run(click)
    check(page.run(column) == sorted(before), "a click sorts")
    page.run(click)
    check(page.run(column) == sorted(before, reverse=True), "another click turns it round")
    check(page.run("document.querySelector('#won-1 th[aria-sort]').getAttribute('aria-sort')") == "descending", "it is said how")
    # A filter leaves the graphs whose names hold the text.
    names = page.run("Array.from(document.querySelectorAll('#graphs .group')).map((g) => g.dataset.graph)")
    check(len(names) >= 2, "there are several graphs")
    wanted = names[0]
    page.run(f"""(() => {{ const i = document.querySelector('#tools input'); i.value = {wanted!r}; i.dispatchEvent(new Event('input')); }})()""")
    left = page.run("Array.from(document.querySelectorAll('#graphs .group')).filter((g) => g.offsetParent).map((g) => g.dataset.graph)")
    check(left == [n for n in names if wanted.lower() in n.lower()], f"a filter filters: {left}")
    rows = page.run("Array.from(document.querySelectorAll('#won-1 tbody tr')).filter((r) => r.offsetParent).map((r) => r.cells[0].textContent)")
    check(rows and all(wanted.lower() in r.lower() for r in rows), f"tables too: {rows}")
    check(page.run("document.querySelectorAll('#won-1 svg .row.dim').length") == len(names) - len(left), "rows of figures fade")
    page.run("(() => { const i = document.querySelector('#tools input'); i.value = ''; i.dispatchEvent(new Event('input')); })()")
    # The pointer over a cell tells its numbers, over a panel those of the config there.
    place = page.run("""(() => { scrollTo(0, 0); const c = document.querySelector('#won-1 svg .row rect.cell'); c.scrollIntoView({block: 'center', behavior: 'instant'});
        const b = c.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()""")
    page.move_to(*place)
    tip = page.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    check("µs" in tip and "k = " in tip, f"a cell tells its numbers: {tip!r}")
    place = page.run("""(() => { const h = document.querySelector('#graphs .panel .hit'); h.scrollIntoView({block: 'center', behavior: 'instant'});
        const b = h.getBoundingClientRect(); return [b.x + 3, b.y + b.height / 2]; })()""")
    page.move_to(*place)
    tip = page.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    check("place 1 of" in tip, f"a panel tells the config under the pointer: {tip!r}")
    # The same by keys.
    page.run("document.querySelector('#won-1 .plot').focus()")
    page.key("ArrowRight")
    tip = page.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    check("µs" in tip or "k = " in tip, f"arrow keys go through the marks: {tip!r}")
    page.key("Escape")
    check(page.run("document.getElementById('tip').hidden"), "Escape ends it")
    # Nothing is wider than the window.
    check(page.run("document.documentElement.scrollWidth <= innerWidth"), "the page fits the window")
    quiet(page)
    if pictures:
        page.picture(pictures / "full_light.png")


def main():
    full, empty, damaged, hostile = sys.argv[1:5]
    pictures = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
    with Browser() as browser:
        with_scripts(browser.open(full), pictures)
        for scripts, dark in ((False, False), (True, True)):
            page = browser.open(full, scripts=scripts, dark=dark)
            quiet(page)
            if scripts:
                check(page.run("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)", "dark is dark")
            if pictures:
                page.picture(pictures / ("full_dark.png" if dark else "full_without_scripts.png"))
        narrow = browser.open(full, width=400, height=800)
        check(narrow.run("document.documentElement.scrollWidth <= innerWidth"), "the page fits a telephone")
        # Figures scroll there, and are not shrunk until nobody can read them.
        scales = narrow.run("""Array.from(document.querySelectorAll(".plot svg")).filter((s) => s.offsetParent || s.getBoundingClientRect().width)
            .map((s) => s.getBoundingClientRect().width / s.viewBox.baseVal.width)""")
        check(scales and min(scales) > 0.8, f"figures can be read on a telephone: {min(scales, default=0)}")
        quiet(narrow)
        if pictures:
            narrow.picture(pictures / "full_narrow.png", {"x": 0, "y": 0, "width": 400, "height": 3000})
        for name, file in (("empty", empty), ("damaged", damaged), ("hostile", hostile)):
            page = browser.open(file)
            check(page.run("document.documentElement.scrollWidth <= innerWidth"), f"the {name} page fits the window")
            every_section_shows_something(page)
            quiet(page)
            if pictures:
                page.picture(pictures / f"{name}.png")
    print("ok")


main()
