// The open head's weights as a table: arrows move, Enter points, and a cell of the chosen row can be drawn up or down.

import { make, OWN_KEYS, word } from "../elements.js";
import { softmax } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { weightCell } from "../cells.js";
import { findCellBeside } from "../geometry.js";
import { isSeen } from "./names.js";
import { dragShares } from "./share_drag.js";

const BY_KEY = { ArrowUp: 0.05, ArrowDown: -0.05 }; // of a row, with Shift
const SAYS_ALONE = "Weights. The arrow keys move from word to word.";
const SAYS = "Weights. The arrow keys move from word to word. Shift with up or down changes the weight. Enter makes the row look only at this word.";

export class WeightTable {
  /**
   * `paints` as `makePaints` gives them; `press` points the chosen cell, or lets it go, and `say` hears of the
   * cell that is pointed at, [row, key], and then of the chosen one again.
   */
  constructor(state, paints, press, say) {
    Object.assign(this, { state, paints, press, open: null });
    this.element = make("table", { className: "weights", tabIndex: 0, "data-control": "map", "aria-label": state.answerer.canAsk ? SAYS : SAYS_ALONE, ...OWN_KEYS });
    this.element.addEventListener("pointerover", ({ target }) => {
      const cell = target.closest("td[data-key]:not(.unseen)");
      if (cell) say(Number(cell.dataset.row), Number(cell.dataset.key));
    });
    this.element.addEventListener("pointerleave", () => say(state.row, state.key));
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
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const beside = findCellBeside({ rows: rows.length, columns: keys.length }, [state.row, state.key], event.key);
    if (event.shiftKey && event.key in BY_KEY && state.canShare) {
      const share = state.share + BY_KEY[event.key];
      state.point(Math.min(1, Math.max(0, share)));
    } else if (beside) {
      const [row, key] = beside;
      state.choose(row, Math.min(state.countSeen(row) - 1, key));
    } else if (event.key === "Enter" && state.canShare) this.press();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Small weights stand out where the colours are those of the root; `rings` as `findGoldRings` gives them. */
  draw(isRoot, rings) {
    const { state } = this;
    const { head, row, key, open } = state;
    const { rows, keys } = state.getMapTokens(head.kind);
    const points = state.findPoints(head, row);
    this.own = points.length && open.scores ? softmax(open.scores[row]) : null; // a kernel doesn't send scores
    // Many cells are slow to lay out: where only the place has moved, its old row and its new one are enough.
    const isMoved = open === this.open && isRoot === this.isRoot;
    const drawn = isMoved ? new Set([this.row, row]) : rows.keys();
    Object.assign(this, { open, isRoot, row });
    const lines = Array.from(drawn, (q) => this.buildLine(q, rows[q], keys, rings.filter(({ query }) => query === q)));
    for (const point of points) lines.find((line) => line.className === "lit").children[point.key + 1].classList.add("set");
    if (isMoved) [...drawn].forEach((q, i) => this.body.rows[q].replaceWith(lines[i]));
    else this.write(keys, lines);
    this.words.forEach((cell, k) => cell.classList.toggle("lit", k === key));
  }

  /** Put rows into the table, and the words above its columns. */
  write(keys, lines) {
    this.element.style.setProperty("--columns", keys.length);
    this.words = Array.from(keys, (token) => make("th", { scope: "col", title: token }, word(token)));
    this.body = make("tbody", {}, ...lines);
    this.element.replaceChildren(make("thead", {}, make("tr", {}, make("td", { className: "corner" }), ...this.words)), this.body);
  }

  buildLine(q, token, keys, rings) {
    const { state } = this;
    const weights = state.open.weights[q];
    const line = make("tr", { className: q === state.row ? "lit" : "" },
      make("th", { scope: "row", title: token, "data-row": q }, word(token)),
      ...Array.from(keys, (_, k) => this.buildCell(q, k, isSeen(state.head.kind, q, k) ? weights[k] : null)));
    for (const { key, className } of rings) line.children[key + 1].classList.add("ring", className);
    return line;
  }

  buildCell(q, k, weight) {
    const { row, key } = this.state;
    const cell = weightCell(weight, this.paints, q === row, this.isRoot ? Math.sqrt(weight) : weight);
    Object.assign(cell.dataset, { row: q, key: k });
    if (q === row && k === key) cell.classList.add("chosen");
    if (q === row && this.own && weight != null) cell.title = `${formatNumber(weight)}; its own weight would be ${formatNumber(this.own[k])}`;
    return cell;
  }
}
