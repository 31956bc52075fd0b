// The open head's weights as a map, and a slider for the weight of the chosen cell.

import { make, OWN_KEYS, word } from "../elements.js";
import { softmax } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { WeightTable } from "./weight_table.js";

export class WeightMap {
  /** `paints` as `makePaints` gives them; `press` makes the chosen row look at the chosen word, or lets it go. */
  constructor(state, paints, press) {
    this.state = state;
    this.table = new WeightTable(state, paints, press);
    this.slider = make("input", { type: "range", min: 0, max: 100, "data-control": "share", ...OWN_KEYS });
    this.slider.addEventListener("input", () => state.point(state.chosen, Number(this.slider.value) / 100));
    this.said = make("output", {});
    this.element = make("div", { className: "weight-map" },
      make("label", { className: "share" }, this.slider, this.said), make("div", { className: "scroll" }, this.table.element));
  }

  draw() {
    this.drawSlider();
    this.table.draw();
  }

  drawSlider() {
    const { state } = this;
    const { row, key } = state;
    this.slider.hidden = !state.canShare;
    if (!state.canShare) return void this.said.replaceChildren("Press a cell to change its weight."); // the line keeps its room
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const share = state.open.weights[row][key];
    const isSet = state.findPoints(state.head, row).length > 0;
    this.slider.value = Math.round(100 * share);
    this.slider.setAttribute("aria-label", `Share of “${keys[key]}” in the row of “${rows[row]}”`);
    const own = isSet ? `; its own weight would be ${formatNumber(softmax(state.open.scores[row])[key])}` : ". Drag the slider, or the cell itself up or down";
    this.said.replaceChildren("“", word(keys[key]), `” has ${formatNumber(share)} of this row${own}.`);
  }
}
