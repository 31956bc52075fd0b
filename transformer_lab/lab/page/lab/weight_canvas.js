// The open head's weights as a picture, for maps of so many words that a table of them would be slow.

import { make } from "../elements.js";
import { findCellAt, findCellBeside, computeCellSize } from "../geometry.js";
import { toPicture } from "../head_map.js";
import { paintMap } from "../painting.js";
import { makeVisible } from "../text.js";
import { Axis } from "./axis.js";
import { isSeen } from "./names.js";

const WIDEST_WORDS = 170; // CSS pixels of the words beside the rows, as in lab.css
const SAYS_CANVAS = "Weights. The arrow keys move from word to word.";

export class WeightCanvas {
  /** `say` hears of the cell that is pointed at, [row, key], and then of the chosen one again. */
  constructor(state, say) {
    Object.assign(this, { state, say });
    this.rows = new Axis("query", (row) => state.choose(row, null));
    this.keys = new Axis("key", (key) => isSeen(state.head.kind, state.row, key) && state.choose(state.row, key));
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.row = make("i", { className: "band row" });
    this.column = make("i", { className: "band column" });
    this.rings = make("div", { className: "rings", "aria-hidden": "true" });
    this.cells = make("div", { className: "cells", tabIndex: 0, role: "application", "aria-label": SAYS_CANVAS, "data-control": "map" },
      this.canvas, this.rings, this.row, this.column);
    this.listen();
    this.element = make("div", { className: "weight-canvas" },
      make("div", { className: "scroll" }, make("div", { className: "corner" }), this.keys.element, this.rows.element, this.cells));
  }

  listen() {
    const { state, cells } = this;
    const at = ({ clientX, clientY }) => findCellAt(this.size, cells.getBoundingClientRect(), clientX, clientY);
    const choose = ([row, key]) => isSeen(state.head.kind, row, key) && state.choose(row, key);
    cells.addEventListener("pointermove", (event) => this.say(...at(event)));
    cells.addEventListener("pointerleave", () => this.say(state.row, state.key));
    cells.addEventListener("click", (event) => choose(at(event)));
    cells.addEventListener("keydown", (event) => {
      const beside = findCellBeside(this.size, [state.row, state.key], event.key);
      if (!beside) return;
      choose(beside);
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** `palette` colours the bytes of the weights; `rings` as `findGoldRings` gives them. */
  draw(palette, rings) {
    const { state } = this;
    const { rows, keys } = state.getMapTokens(state.head.kind);
    this.size = { rows: rows.length, columns: keys.length };
    const { cell, labelled } = computeCellSize(this.size, this.measureRoom(rows));
    this.element.style.setProperty("--cell", `${cell}px`);
    this.element.style.setProperty("--font", `${Math.min(13, Math.max(8, cell - 1))}px`);
    this.rows.write(labelled ? rows : []);
    this.keys.write(labelled ? keys : []);
    this.cells.style.width = `${keys.length * cell}px`;
    this.cells.style.height = `${rows.length * cell}px`;
    if (this.painted !== state.open || this.palette !== palette) paintMap(this.canvas, toPicture(state.open), palette);
    Object.assign(this, { painted: state.open, palette });
    this.rings.replaceChildren(...rings.map(({ query, key, className }) => {
      const ring = make("i", { className: `ring ${className}` });
      ring.style.transform = `translate(${key * cell}px, ${query * cell}px)`;
      return ring;
    }));
    this.row.style.transform = `translateY(${state.row * cell}px)`;
    this.column.hidden = state.key == null;
    this.column.style.transform = `translateX(${(state.key ?? 0) * cell}px)`;
    this.rows.light(state.row);
    this.keys.light(state.key);
  }

  /** CSS pixels for the cells: the pane's width without the words; undefined while nobody sees it. */
  measureRoom(words) {
    const longest = Math.max(0, ...words.map((token) => makeVisible(token).length));
    const pane = this.element.parentElement?.clientWidth;
    return pane ? Math.max(1, pane - Math.min(WIDEST_WORDS, 7.5 * longest) - 24) : undefined;
  }
}
