// The open head as a map: a cell a weight, tokens at its sides, the chosen row and column framed.

import { make, svg } from "../elements.js";
import { findCellAt, findCellBeside, computeCellSize } from "../geometry.js";
import { isBright, paintMap, makeScaleBytes } from "../painting.js";
import { KINDS } from "../record.js";
import { formatNumber, makeVisible } from "../text.js";
import { Axis } from "./axis.js";
import { drawRing, describeGold, findGoldRings } from "./gold.js";

const ROOM_FOR_NUMBERS = 26; // CSS pixels of a cell
const WIDEST_WORDS = 170; // CSS pixels of the words beside the rows, as in explorer.css
const HOW = "The map. Arrows move, Enter pins, R pins the row, C the column, Escape lets go.";

export class Matrix {
  constructor(selection) {
    this.selection = selection;
    this.axes = make("p", { className: "axes" });
    this.queries = new Axis(selection, "query");
    this.keys = new Axis(selection, "key");
    this.canvas = make("canvas", { className: "matrix", "aria-hidden": "true" });
    this.marks = svg("svg", { class: "marks", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.row = make("i", { className: "band row" });
    this.column = make("i", { className: "band column" });
    this.numbers = make("div", { className: "numbers", "aria-hidden": "true" });
    this.cells = this.buildCells();
    this.scale = make("div", {});
    this.legend = make("div", { className: "legend" });
    const scroll = make("div", { className: "scroll" },
      make("div", { className: "corner" }, make("span", {}, "query ↓  key →")),
      make("div", { className: "keys" }, this.keys.element), this.queries.element, this.cells);
    scroll.addEventListener("pointerleave", () => selection.look(null));
    this.element = make("div", { className: "map matrix" }, this.axes, scroll, this.scale, this.legend);
  }

  buildCells() {
    const { selection } = this;
    const control = { tabIndex: 0, role: "application", "aria-label": HOW, "data-control": "map" };
    const cells = make("div", { className: "cells", ...control },
      this.canvas, this.marks, this.row, this.column, this.numbers);
    const at = ({ clientX, clientY }) => findCellAt(selection.map, cells.getBoundingClientRect(), clientX, clientY);
    cells.addEventListener("pointermove", (event) => selection.look(at(event)));
    cells.addEventListener("click", (event) => selection.pin(at(event)));
    cells.addEventListener("keydown", (event) => this.move(event));
    return cells;
  }

  move(event) {
    const { selection } = this;
    const { chosen } = selection;
    const beside = findCellBeside(selection.map, chosen, event.key);
    if (beside) selection.look(beside);
    else if (event.key === "Enter" || event.key === " ") {
      if (chosen) selection.pin(chosen);
    } else if (event.key === "r" && chosen) selection.pin([chosen[0] ?? 0, null]);
    else if (event.key === "c" && chosen) selection.pin([null, chosen[1] ?? 0]);
    else if (event.key === "Escape") selection.letGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drawHead() {
    const { map, kind, record, tokens, colours, settings } = this.selection;
    const { cell, labelled } = computeCellSize(map, this.measureRoom(tokens.queries));
    this.cell = cell;
    this.element.style.setProperty("--cell", `${cell}px`);
    this.element.style.setProperty("--font", `${Math.min(13, Math.max(8, cell - 1))}px`);
    this.axes.textContent = `Rows: ${KINDS[kind].query} (query). Columns: ${KINDS[kind].key} (key).`;
    this.queries.write(labelled ? tokens.queries : []);
    this.keys.write(labelled ? tokens.keys : []);
    this.cells.style.width = `${map.columns * cell}px`;
    this.cells.style.height = `${map.rows * cell}px`;
    paintMap(this.canvas, map, colours);
    this.drawScale();
    this.marks.setAttribute("viewBox", `0 0 ${map.columns} ${map.rows}`);
    this.marks.replaceChildren(...(settings.gold ? findGoldRings(record, kind).flatMap(drawRing) : []));
    this.legend.textContent = settings.gold ? describeGold(record, kind) : "";
  }

  /** CSS pixels for the cells: the pane's width without the words; undefined while nobody sees it. */
  measureRoom(words) {
    const longest = Math.max(0, ...words.map((token) => makeVisible(token).length));
    const pane = this.element.parentElement?.parentElement?.clientWidth;
    return pane ? Math.max(1, pane - Math.min(WIDEST_WORDS, 7.5 * longest) - 24) : undefined;
  }

  drawScale() {
    const { colours, settings } = this.selection;
    if (this.scaled === settings.palette) return;
    this.scaled = settings.palette;
    const steps = make("canvas", { "aria-hidden": "true" });
    paintMap(steps, { rows: 1, columns: 256, bytes: makeScaleBytes() }, colours);
    const what = settings.palette === "root" ? "weight (colour by its square root)" : "weight";
    this.scale.replaceChildren(make("div", { className: "scale" }, "0", steps, `1  ${what}`));
  }

  drawPlace() {
    const { chosen, pinned } = this.selection;
    const [query, key] = chosen ?? [null, null];
    this.element.dataset.pinned = String(pinned != null);
    this.row.hidden = query == null;
    this.column.hidden = key == null;
    if (query != null) this.row.style.transform = `translateY(${query * this.cell}px)`;
    if (key != null) this.column.style.transform = `translateX(${key * this.cell}px)`;
    this.queries.light(query);
    this.keys.light(key);
    const enough = query != null && this.cell >= ROOM_FOR_NUMBERS;
    this.numbers.replaceChildren(...(enough ? this.buildNumbers(query) : []));
  }

  /** The row's weights in their cells, where they are not too small. */
  buildNumbers(query) {
    const { map, colours } = this.selection;
    return map.row(query).flatMap((weight, key) => {
      if (weight < 0.045) return [];
      const colour = colours[map.bytes[query * map.columns + key]];
      const text = make("span", { className: isBright(colour) ? "on-bright" : "on-dark" },
        formatNumber(weight).replace(/^0/, ""));
      text.style.transform = `translate(${key * this.cell}px, ${query * this.cell}px)`;
      return [text];
    });
  }
}
