// The open head's weights as a picture, for maps of so many words that a table of them would be slow.

import { make } from "../elements.js";
import { findCellAt, findCellBeside, computeCellSize } from "../geometry.js";
import { toPicture } from "../head_map.js";
import { paintMap } from "../painting.js";
import { findStrongest } from "../ranking.js";
import { formatNumber, makeVisible } from "../text.js";
import { Axis } from "./axis.js";
import { isSeen } from "./names.js";

const WIDEST_WORDS = 170; // CSS pixels of the words beside the rows, as in lab.css
const MOST_NAMED = 5; // that are named
const SAYS_CANVAS = "Weights. Arrows move from word to word.";

export class WeightCanvas {
  constructor(state) {
    this.state = state;
    this.rows = new Axis("query", (row) => state.choose(row, null));
    this.keys = new Axis("key", (key) => isSeen(state.head.kind, state.row, key) && state.choose(state.row, key));
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.row = make("i", { className: "band row" });
    this.column = make("i", { className: "band column" });
    this.rings = make("div", { className: "rings", "aria-hidden": "true" });
    this.cells = make("div", { className: "cells", tabIndex: 0, role: "application", "aria-label": SAYS_CANVAS, "data-control": "map" },
      this.canvas, this.rings, this.row, this.column);
    this.said = make("p", { className: "readout", role: "status" });
    this.listen();
    this.element = make("div", { className: "weight-canvas" },
      make("div", { className: "scroll" }, make("div", { className: "corner" }), this.keys.element, this.rows.element, this.cells), this.said);
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
    this.say(state.row, state.key);
  }

  /** CSS pixels for the cells: the pane's width without the words; undefined while nobody sees it. */
  measureRoom(words) {
    const longest = Math.max(0, ...words.map((token) => makeVisible(token).length));
    const pane = this.element.parentElement?.clientWidth;
    return pane ? Math.max(1, pane - Math.min(WIDEST_WORDS, 7.5 * longest) - 24) : undefined;
  }

  /** Say a cell's weight, and the strongest of its row. */
  say(row, key) {
    const { state } = this;
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const weights = state.open.weights[row];
    const isLeftOut = key != null && state.now.record?.left_out && !weights[key];
    const cell = key == null ? "" : `The weight of “${makeVisible(keys[key])}” is ${isLeftOut ? "0, or left out" : formatNumber(weights[key], 3)}. `;
    const strongest = findStrongest(weights, MOST_NAMED).filter((k) => weights[k] >= 0.005).map((k) => `“${makeVisible(keys[k])}” ${formatNumber(weights[k])}`);
    const text = `${cell}“${makeVisible(rows[row])}” looks most at ${strongest.join(", ") || "nothing"}.`;
    if (this.said.textContent !== text) this.said.textContent = text;
  }
}
