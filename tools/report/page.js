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
  const panel_words = (panel, place) => {
    const rows = panel.dataset.rows.split(" ");
    const at = Math.max(0, Math.min(rows.length - 1, place));
    const figure = panel.closest("figure");
    const table = figure.querySelector("table");
    const row = table.made[Number(rows[at])];
    const column = Number(panel.dataset.column);
    const head = table.tHead.rows[0].cells[column].textContent;
    return { at, text: `${row.cells[0].textContent}: ${row.cells[column].textContent} µs, ${row.cells[1].textContent}. ${head.replace("µs", "").trim()}, place ${at + 1} of ${rows.length}` };
  };
  const place_of = (panel, event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.getScreenCTM().inverse());
    return Math.floor((point.x - Number(panel.dataset.left)) / Number(panel.dataset.step));
  };
  all(document, ".plot svg").forEach((svg) => {
    svg.addEventListener("pointermove", (event) => {
      const panel = event.target.closest(".panel");
      if (panel) return show(panel_words(panel, place_of(panel, event)).text, event.clientX, event.clientY);
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
          mark.dataset.rows.split(" ").forEach((_, at) => stops.push({ panel: mark, at }));
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
        const box = stop.panel.getBoundingClientRect();
        const told = panel_words(stop.panel, stop.at);
        const share = (stop.at + 0.5) / stop.panel.dataset.rows.split(" ").length;
        show(told.text, box.left + share * box.width, box.bottom - 20);
      }
    });
  });
  addEventListener("scroll", hide, { passive: true });
})();
