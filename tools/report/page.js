// What a page can do beyond being read: sort tables, filter by graph, tell the numbers of a mark. No library, no request.
"use strict";
(() => {
  const all = (where, what) => Array.from(where.querySelectorAll(what));
  const tip = document.getElementById("tip");

  // --- Sorting: a click on a head, or Enter; again turns it round. ---
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell ? cell.textContent.trim() : "";
    const number = Number(text);
    return text === "" ? null : Number.isNaN(number) ? text : number;
  };
  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    all(table, "th").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((a, b) => {
      const x = value(a, column), y = value(b, column);
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  };
  all(document, "table").forEach((table) => {
    // Figures ask for rows by their place when the page was made.
    table.made = Array.from(table.tBodies[0].rows);
    all(table, "th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head));
      head.append(button);
    });
  });

  // --- Filter: graphs whose name holds the text. ---
  const filter = (text) => {
    const wanted = text.trim().toLowerCase();
    const fits = (name) => wanted === "" || name.toLowerCase().includes(wanted);
    all(document, "svg .row").forEach((row) => row.classList.toggle("dim", !fits(row.dataset.graph)));
    all(document, ".group[data-graph]").forEach((group) => group.classList.toggle("away", !fits(group.dataset.graph)));
    all(document, "table").forEach((table) => {
      if (!table.tHead.rows[0].cells[0].textContent.startsWith("graph")) return;
      table.made.forEach((row) => row.classList.toggle("away", !fits(row.cells[0].textContent)));
    });
  };
  const tools = document.getElementById("tools");
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Filter graphs";
  input.setAttribute("aria-label", "Show only graphs whose name holds this text");
  input.addEventListener("input", () => filter(input.value));
  const theme = document.createElement("button");
  theme.type = "button";
  theme.textContent = "Light or dark";
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  if (document.querySelector("svg .row, .group[data-graph]")) tools.append(input);
  tools.append(theme);
  tools.hidden = false;

  // --- Numbers of a mark: under the pointer, or by arrow keys in a figure that has the focus. ---
  const words = (mark) => {
    const title = mark.querySelector(":scope > title");
    if (title) {
      mark.words = title.textContent;
      title.remove();  // else the browser shows it too
    }
    return mark.words;
  };
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 18) + "px";
  };
  const hide = () => { tip.hidden = true; };
  // The dots of a panel, from the rows of the table behind it: what each says and where it stands.
  const dots_of = (panel) => {
    if (panel.dots) return panel.dots;
    const data = panel.dataset;
    const table = panel.closest("figure").querySelector("table");
    const [left, right, low, high] = data.x.split(" ").map(Number);
    const [top, line] = data.y.split(" ").map(Number);
    const column = Number(data.column);
    const width = table.tHead.rows[0].cells[column].textContent.replace("µs", "").trim();
    const variants = data.variants.split(" ");
    const rows = data.rows.split(" ");
    panel.dots = rows.map((number, place) => {
      const cells = table.made[Number(number)].cells;
      const config = cells[0].textContent.trim(), us = cells[column].textContent.trim();
      const ratio = Number(us) / Number(data.best);
      const share = Math.log(Math.min(high, Math.max(low, ratio)) / low) / Math.log(high / low);
      return {
        x: left + share * (right - left),
        y: top + line * (variants.indexOf(config.split("{")[0]) + 0.5),
        text: `${config}: ${us} µs, ${ratio.toFixed(2)}× the fastest, ${cells[1].textContent.trim()}. ${width}, place ${place + 1} of ${rows.length}`,
      };
    });
    return panel.dots;
  };
  const to_screen = (panel, x, y) => new DOMPoint(x, y).matrixTransform(panel.getScreenCTM());
  const nearest = (panel, event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.getScreenCTM().inverse());
    const away = (dot) => Math.hypot(dot.x - point.x, 2 * (dot.y - point.y));
    return dots_of(panel).reduce((best, dot) => (away(dot) < away(best) ? dot : best));
  };
  all(document, ".plot svg").forEach((svg) => {
    svg.addEventListener("pointermove", (event) => {
      const panel = event.target.closest(".panel");
      if (panel) return show(nearest(panel, event).text, event.clientX, event.clientY);
      const mark = event.target.closest("rect, path");
      const text = mark && words(mark);
      if (text) show(text, event.clientX, event.clientY); else hide();
    });
    svg.addEventListener("pointerleave", hide);

    const stops = [];  // what arrow keys go along
    let now = -1;
    let here = null;
    const fill = () => {
      all(svg, "rect, path, .panel").forEach((mark) => {
        if (mark.classList.contains("panel")) {
          dots_of(mark).forEach((dot) => stops.push({ panel: mark, dot }));
        } else if (words(mark)) {
          stops.push({ mark });
        }
      });
    };
    const leave = () => {
      if (here) here.classList.remove("here");
      here = null;
      hide();
    };
    svg.parentElement.tabIndex = 0;
    svg.parentElement.setAttribute("aria-label", "Figure; arrow keys go through its marks");
    svg.parentElement.setAttribute("role", "group");
    svg.parentElement.addEventListener("blur", leave);
    svg.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step) return;
      if (stops.length === 0) fill();
      if (stops.length === 0) return;
      event.preventDefault();
      leave();
      now = (now + step + stops.length) % stops.length;
      const stop = stops[now];
      if (stop.mark) {
        here = stop.mark;
        here.classList.add("here");
        const box = here.getBoundingClientRect();
        show(words(here), box.right, box.top);
      } else {
        const at = to_screen(stop.panel, stop.dot.x, stop.dot.y);
        show(stop.dot.text, at.x, at.y);
      }
    });
  });
  addEventListener("scroll", hide, { passive: true });
})();
