// Where the open head looks: its weights as a table or as lines, and what can be done with it.

import { action, make, OWN_KEYS, word } from "../elements.js";
import { softmax } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { VIEWS } from "./address.js";
import { LineView } from "./line_view.js";
import { toLongName, describeAxes, toShortName } from "./names.js";
import { WeightTable } from "./weight_table.js";

const NAMES = { map: "map", lines: "lines of the chosen word", strongest: "strongest lines" };

const HINTS = {
  map: "Press a cell to change its weight.",
  lines: "Press a word at the left. “with” draws another head of this kind over it.",
  strongest: "Point at a word. “with” draws another head of this kind over it.",
};

export class Where {
  /** `paints` as `makePaints` gives them, for weights from 0 to 1. */
  constructor(state, paints) {
    this.state = state;
    this.title = make("h2", {});
    this.buttons = make("p", { className: "buttons" });
    this.axes = make("p", { className: "axes" });
    this.table = new WeightTable(state, paints, () => this.pressPoint());
    this.lines = new LineView(state);
    this.place = make("div", { className: "scroll" });
    this.slider = make("input", { type: "range", min: 0, max: 100, "data-control": "share", ...OWN_KEYS });
    this.slider.addEventListener("input", () => state.point(state.chosen, Number(this.slider.value) / 100));
    this.said = make("output", {});
    this.label = make("label", { className: "share" }, this.slider, this.said);
    this.views = this.buildChoice("view", "show: ", (view) => state.show(view));
    this.others = this.buildChoice("overlay", "with: ", (name) => name && state.overlay(this.beside.get(name)));
    this.views.list.append(...VIEWS.map((value) => make("option", { value }, NAMES[value])));
    this.element = make("section", { className: "where", "aria-label": "Where the head looks" },
      this.title, this.buttons, make("p", { className: "choices" }, this.views.element, this.others.element),
      this.label, this.axes, this.place);
  }

  buildChoice(control, text, take) {
    const list = make("select", { "data-control": control, ...OWN_KEYS });
    list.addEventListener("change", () => take(list.value));
    return { list, element: make("label", {}, text, list) };
  }

  draw() {
    const { state } = this;
    const { head, row, key, view } = state;
    const { rows, keys } = state.getMapTokens(head.kind);
    const { rows: rowsAre, columns } = describeAxes(head.kind, state.languages);
    const isMuted = state.isMuted(head);
    this.title.textContent = `${toShortName(head)} · ${toLongName(head)}`;
    const axes = view === "map" ? `Rows: ${rowsAre}. Columns: ${columns}. Each row sums to 1: dark is 0, yellow is 1.` : `Left: ${rowsAre}. Right: ${columns}. Thick: much weight.`;
    this.axes.textContent = `${axes}${isMuted ? " It is muted: it still looks, and passes nothing on." : ""}`;
    const mute = action("mute", isMuted ? "Unmute" : "Mute", isMuted ? "Let this head speak again" : "Set this head's output to 0", () => state.toggleMute(head));
    mute.setAttribute("aria-pressed", String(isMuted));
    const canPoint = state.canShare && view !== "strongest";
    this.buttons.replaceChildren(mute, ...(canPoint ? [this.buildPointButton(rows, keys)] : []));
    this.drawChoices();
    this.slider.hidden = !canPoint;
    if (!canPoint) this.said.replaceChildren(HINTS[view]); // the line keeps its room
    else {
      const share = state.open.weights[row][key];
      this.slider.value = Math.round(100 * share);
      this.slider.setAttribute("aria-label", `Share of “${keys[key]}” in the row of “${rows[row]}”`);
      const own = this.isSet ? `; of its own ${formatNumber(softmax(state.open.scores[row])[key])}` : "; drag to change it, here or its cell up or down";
      this.said.replaceChildren("“", word(keys[key]), `” has ${formatNumber(share)} of this row${own}`);
    }
    const shown = view === "map" ? this.table : this.lines;
    if (this.place.firstChild !== shown.element) this.place.replaceChildren(shown.element);
    shown.draw();
  }

  /** The views, and the heads that can be drawn over the open one. */
  drawChoices() {
    const { state } = this;
    this.views.list.value = state.view;
    const { kind } = state.head;
    const drawn = new Set(state.heads.map(toShortName));
    const all = state.now.maps[kind].flatMap((heads, layer) => heads.map((_, head) => ({ kind, layer, head })));
    this.beside = new Map(all.map((head) => [toShortName(head), head]).filter(([name]) => !drawn.has(name)));
    this.others.list.replaceChildren(make("option", { value: "" }, "another head …"),
      ...Array.from(this.beside.keys(), (name) => make("option", { value: name }, name)));
    this.others.element.hidden = state.isFull || !this.beside.size;
  }

  /** Whether the open row was told what to give to words. */
  get isSet() {
    return this.state.findPoints(this.state.head, this.state.row).length > 0;
  }

  pressPoint() {
    const { state } = this;
    if (this.isSet) state.unpoint({ ...state.chosen, key: null });
    else state.point(state.chosen, 1);
  }

  buildPointButton(rows, keys) {
    const { row, key } = this.state;
    const text = this.isSet ? "Own weights again" : `Let “${rows[row]}” look only at “${keys[key]}”`;
    return action("point", text, text, () => this.pressPoint());
  }
}
