// Where the open head looks: its weights as a table, one row of it chosen.

import { action, make, OWN_KEYS, word } from "../elements.js";
import { number } from "../text.js";
import { weightCell } from "../cells.js";
import { isSeen, longName, meaningOf, shortName } from "./names.js";

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Where {
  /** `paints` as `paintsOf` gives them, for weights from 0 to 1. */
  constructor(state, paints) {
    Object.assign(this, { state, paints });
    this.title = make("h2", {});
    this.buttons = make("p", { className: "buttons" });
    this.axes = make("p", { className: "axes" });
    const how = { tabIndex: 0, "data-control": "map", ...OWN_KEYS, "aria-label": "Weights. Arrows move, Enter lets the row look at this word only." };
    this.table = make("table", { className: "weights", ...how });
    this.table.addEventListener("keydown", (event) => this.move(event));
    this.table.addEventListener("click", ({ target }) => {
      const cell = target.closest("td[data-key]:not(.unseen)");
      if (cell) state.choose(Number(cell.dataset.row), Number(cell.dataset.key));
      const head = target.closest("th[data-row]");
      if (head) state.choose(Number(head.dataset.row), null);
    });
    this.slider = make("input", { type: "range", min: 0, max: 100, "data-control": "share", ...OWN_KEYS });
    this.slider.addEventListener("input", () => state.point(this.chosen, Number(this.slider.value) / 100));
    this.said = make("output", {});
    this.label = make("label", { className: "share" }, this.slider, this.said);
    this.element = make("section", { className: "where", "aria-label": "Where the head looks" },
      this.title, this.buttons, this.label, this.axes, make("div", { className: "scroll" }, this.table));
  }

  move(event) {
    const { state } = this;
    const step = ARROWS[event.key];
    if (step) {
      const row = Math.min(state.open.weights.length - 1, Math.max(0, state.row + step[0]));
      const key = state.key == null ? 0 : state.key + step[1];
      state.choose(row, Math.min(state.seenIn(row) - 1, Math.max(0, key)));
    } else if (event.key === "Enter" && state.key != null) this.pressPoint();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  draw() {
    const { state } = this;
    const { head, row, key } = state;
    const { rows, keys } = state.tokensOf(head.kind);
    const { rows: rowsAre, columns } = meaningOf(head.kind, state.languages);
    this.title.textContent = `${shortName(head)} · ${longName(head)}`;
    this.axes.textContent = `Rows: ${rowsAre}. Columns: ${columns}. Each row sums to 1.${state.isMuted(head) ? " It is muted: it still looks, and passes nothing on." : ""}`;
    const isMuted = state.isMuted(head);
    const mute = action("mute", isMuted ? "Unmute" : "Mute", isMuted ? "Let this head speak again" : "Set this head's output to 0", () => state.toggleMute(head));
    mute.setAttribute("aria-pressed", String(isMuted));
    const canPoint = key != null && state.seenIn(row) > 1; // or all weight is on the only word
    this.buttons.replaceChildren(mute, ...(canPoint ? [this.pointer(rows, keys)] : []));
    this.label.hidden = !canPoint;
    if (!this.label.hidden) {
      const share = state.open.weights[row][key];
      this.slider.value = Math.round(100 * share);
      this.slider.setAttribute("aria-label", `Share of “${keys[key]}” in the row of “${rows[row]}”`);
      this.said.replaceChildren("“", word(keys[key]), `” has ${number(share)} of this row; drag to change it`);
    }
    this.table.style.setProperty("--columns", keys.length);
    const top = make("tr", {}, make("td", { className: "corner" }),
      ...keys.map((token, k) => make("th", { scope: "col", className: k === key ? "lit" : "" }, word(token))));
    const lines = state.open.weights.map((weights, q) => make("tr", { className: q === row ? "lit" : "" },
      make("th", { scope: "row", "data-row": q }, word(rows[q])),
      ...Array.from(keys, (_, k) => this.cell(q, k, isSeen(head.kind, q, k) ? weights[k] : null))));
    this.table.replaceChildren(make("thead", {}, top), make("tbody", {}, ...lines));
  }

  cell(q, k, weight) {
    const { row, key } = this.state;
    const cell = weightCell(weight, this.paints, q === row);
    Object.assign(cell.dataset, { row: q, key: k });
    if (q === row && k === key) cell.classList.add("chosen");
    return cell;
  }

  /** The chosen cell as a change of the open head. */
  get chosen() {
    const { head, row, key } = this.state;
    return { ...head, query: row, key };
  }

  get isPointed() {
    const { head, row, key } = this.state;
    return this.state.pointOf(head, row)?.key === key;
  }

  pressPoint() {
    this.state.point(this.chosen, this.isPointed ? null : 1);
  }

  pointer(rows, keys) {
    const { row, key } = this.state;
    const text = this.isPointed ? "Own weights again" : `Let “${rows[row]}” look only at “${keys[key]}”`;
    return action("point", text, text, () => this.pressPoint());
  }
}
