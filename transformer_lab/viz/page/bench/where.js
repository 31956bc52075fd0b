// Where the open head looks: its weights as a table, one row of it chosen.

import { action, make, word } from "../elements.js";
import { number } from "../text.js";
import { longName, MEANINGS, shortName } from "./names.js";

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Where {
  /** `colours` are 256 colours as CSS writes them, for weights from 0 to 1. */
  constructor(state, colours) {
    Object.assign(this, { state, colours });
    this.title = make("h2", {});
    this.buttons = make("p", { className: "buttons" });
    this.axes = make("p", { className: "axes" });
    const how = { tabIndex: 0, "data-control": "map", "aria-label": "Weights. Arrows move, Enter lets the row look at this word only." };
    this.table = make("table", { className: "weights", ...how });
    this.table.addEventListener("keydown", (event) => this.move(event));
    this.table.addEventListener("click", ({ target }) => {
      const cell = target.closest("td");
      if (cell) state.choose(Number(cell.dataset.row), Number(cell.dataset.key));
      const head = target.closest("th[data-row]");
      if (head) state.choose(Number(head.dataset.row), null);
    });
    this.element = make("section", { className: "where", "aria-label": "Where the head looks" },
      this.title, this.buttons, this.axes, make("div", { className: "scroll" }, this.table));
  }

  move(event) {
    const { state } = this;
    const step = ARROWS[event.key];
    if (step) {
      const row = Math.min(state.open.weights.length - 1, Math.max(0, state.row + step[0]));
      const key = state.key == null ? 0 : state.key + step[1];
      state.choose(row, Math.min(state.open.weights[row].length - 1, Math.max(0, key)));
    } else if (event.key === "Enter" && state.key != null) state.point(state.row, state.key);
    else if (event.key === "m" || event.key === "M") state.toggleMute(state.head);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  draw() {
    const { state } = this;
    if (state.problem) return;
    const { head, row, key } = state;
    const { rows, keys } = state.tokensOf(head.kind);
    this.title.textContent = `${shortName(head)} · ${longName(head)}`;
    this.axes.textContent = `Rows: ${MEANINGS[head.kind].rows}. Columns: ${MEANINGS[head.kind].columns}. Each row sums to 1.`;
    const isMuted = state.isMuted(head);
    const mute = action("mute", isMuted ? "Unmute" : "Mute", isMuted ? "Let this head speak again" : "Set this head's output to 0", () => state.toggleMute(head));
    mute.setAttribute("aria-pressed", String(isMuted));
    this.buttons.replaceChildren(mute, ...(key == null ? [] : [this.pointer(rows, keys)]));
    this.table.style.setProperty("--columns", keys.length);
    const top = make("tr", {}, make("td", { className: "corner" }),
      ...keys.map((token, k) => make("th", { scope: "col", className: k === key ? "lit" : "" }, word(token))));
    const lines = state.open.weights.map((weights, q) => make("tr", { className: q === row ? "lit" : "" },
      make("th", { scope: "row", "data-row": q }, word(rows[q])),
      ...Array.from(keys, (_, k) => this.cell(q, k, weights[k]))));
    this.table.replaceChildren(make("thead", {}, top), make("tbody", {}, ...lines));
  }

  cell(q, k, weight) {
    const { row, key } = this.state;
    const shade = Math.round(255 * (weight ?? 0));
    const cell = make("td", { "data-row": q, "data-key": k });
    if (weight == null) cell.className = "unseen"; // a later word, which the mask hides
    else {
      cell.style.background = this.colours[shade];
      cell.style.color = shade > 140 ? "#000" : "#fff";
      if (q === row && weight >= 0.045) cell.textContent = number(weight).replace(/^0/, "");
    }
    if (q === row && k === key) cell.classList.add("chosen");
    return cell;
  }

  pointer(rows, keys) {
    const { state } = this;
    const { row, key } = state;
    const on = state.pointOf(state.head, row)?.key === key;
    const text = on ? "Own weights again" : `Let “${rows[row]}” look only at “${keys[key]}”`;
    return action("point", text, text, () => state.point(row, key));
  }
}
