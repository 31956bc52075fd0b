// The open head's weights as a table: arrows move, Enter points, and a cell of the chosen row can be drawn up or down.

import { make, OWN_KEYS, word } from "../elements.js";
import { softmax } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { weightCell } from "../cells.js";
import { ARROWS } from "../geometry.js";
import { isSeen } from "./names.js";
import { dragShares } from "./share_drag.js";

const BY_KEY = { ArrowUp: 0.05, ArrowDown: -0.05 }; // of a row, with Shift
const SAYS = "Weights. Arrows move, Shift with up or down changes the weight, Enter lets the row look at this word only.";

export class WeightTable {
  /** `paints` as `makePaints` gives them; `press` points the chosen cell, or lets it go. */
  constructor(state, paints, press) {
    Object.assign(this, { state, paints, press });
    this.element = make("table", { className: "weights", tabIndex: 0, "data-control": "map", "aria-label": SAYS, ...OWN_KEYS });
    this.element.addEventListener("keydown", (event) => this.move(event));
    this.element.addEventListener("click", ({ target }) => {
      const cell = target.closest("td[data-key]:not(.unseen)");
      if (cell) state.choose(Number(cell.dataset.row), Number(cell.dataset.key));
      const head = target.closest("th[data-row]");
      if (head) state.choose(Number(head.dataset.row), null);
    });
    dragShares(this.element, state);
  }

  move(event) {
    const { state } = this;
    const step = ARROWS[event.key];
    if (event.shiftKey && event.key in BY_KEY && state.canShare) {
      const share = state.share + BY_KEY[event.key];
      state.point(Math.min(1, Math.max(0, share)));
    } else if (step) {
      const row = Math.min(state.open.weights.length - 1, Math.max(0, state.row + step[0]));
      const key = state.key == null ? 0 : state.key + step[1];
      state.choose(row, Math.min(state.countSeen(row) - 1, Math.max(0, key)));
    } else if (event.key === "Enter" && state.canShare) this.press();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Small weights stand out where the colours are those of the root; `rings` as `findGoldRings` gives them. */
  draw(isRoot, rings) {
    this.isRoot = isRoot;
    const { state } = this;
    const { head, row, key } = state;
    const { rows, keys } = state.getMapTokens(head.kind);
    const points = state.findPoints(head, row);
    this.own = points.length && state.open.scores ? softmax(state.open.scores[row]) : null; // a kernel doesn't send scores
    this.element.style.setProperty("--columns", keys.length);
    const top = make("tr", {}, make("td", { className: "corner" }),
      ...keys.map((token, k) => make("th", { scope: "col", className: k === key ? "lit" : "" }, word(token))));
    const lines = state.open.weights.map((weights, q) => make("tr", { className: q === row ? "lit" : "" },
      make("th", { scope: "row", "data-row": q }, word(rows[q])),
      ...Array.from(keys, (_, k) => this.buildCell(q, k, isSeen(head.kind, q, k) ? weights[k] : null))));
    this.element.replaceChildren(make("thead", {}, top), make("tbody", {}, ...lines));
    const mark = (q, k, ...names) => this.element.querySelector(`td[data-row="${q}"][data-key="${k}"]`)?.classList.add(...names);
    for (const point of points) mark(row, point.key, "set");
    for (const { query, key: k, className } of rings) mark(query, k, "ring", className);
  }

  buildCell(q, k, weight) {
    const { row, key } = this.state;
    const cell = weightCell(weight, this.paints, q === row, this.isRoot ? Math.sqrt(weight) : weight);
    Object.assign(cell.dataset, { row: q, key: k });
    if (q === row && k === key) cell.classList.add("chosen");
    if (q === row && this.own && weight != null) cell.title = `${formatNumber(weight)}; of its own it has ${formatNumber(this.own[k])}`;
    return cell;
  }
}
