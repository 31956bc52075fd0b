// The open head's weights as a map, and a slider for the weight of the chosen cell.

import { make, OWN_KEYS, toggle, word } from "../elements.js";
import { softmax } from "../engine/vectors.js";
import { formatNumber } from "../text.js";
import { describeGold, findGoldRings } from "./gold.js";
import { describePlace } from "./readout.js";
import { WeightCanvas } from "./weight_canvas.js";
import { WeightTable } from "./weight_table.js";

const MOST_CELLS = 900; // of a table: more would take longer to draw than a press may

export class WeightMap {
  /**
   * `palettes` as `makePalettes` gives them, and `paints` as `makePaints`; `press` makes the chosen row look at the chosen word, or lets it go.
   */
  constructor(state, palettes, paints, press) {
    Object.assign(this, { state, palettes, isRoot: false });
    const say = (row, key) => this.say(row, key);
    this.table = new WeightTable(state, paints, press, say);
    this.canvas = new WeightCanvas(state, say);
    this.slider = make("input", { type: "range", min: 0, max: 100, "data-control": "share", ...OWN_KEYS });
    this.slider.addEventListener("input", () => state.point(Number(this.slider.value) / 100));
    this.said = make("output", {});
    this.share = make("label", { className: "share" }, this.slider, this.said);
    this.small = toggle("small weights", "Make small weights visible", () => this.isRoot, () => {
      this.isRoot = !this.isRoot;
      this.draw();
    });
    this.place = make("div", { className: "scroll" });
    this.readout = make("p", { className: "readout", role: "status" });
    this.note = make("p", { className: "note" });
    this.element = make("div", { className: "weight-map" }, this.share, this.place, this.readout, this.note, make("p", {}, this.small));
  }

  draw() {
    const { state } = this;
    const { open: { weights }, head: { kind }, now: { record = {} } } = state;
    this.drawSlider();
    this.small.refresh();
    const isTable = weights.length * weights[0].length <= MOST_CELLS;
    const shown = isTable ? this.table : this.canvas;
    if (this.place.firstChild !== shown.element) this.place.replaceChildren(shown.element);
    const rings = findGoldRings(record, kind);
    if (isTable) this.table.draw(this.isRoot, rings);
    else this.canvas.draw(this.isRoot ? this.palettes.root : this.palettes.weight, rings);
    this.readout.hidden = isTable && state.canChange; // there the slider says the weight
    this.say(state.row, state.key);
    const coloured = this.isRoot ? "The colour shows the square root of the weight, so small weights stand out. " : "";
    this.note.textContent = `${coloured}${describeGold(record, kind)} ${record.left_out ?? ""} ${this.describeScores()}`.trim();
  }

  /** Say the weights of a cell: of the chosen one, or of one that is pointed at. */
  say(row, key) {
    const said = make("span", {}, ...describePlace(this.state, row, key));
    if (this.readout.textContent !== said.textContent) this.readout.replaceChildren(said); // a screen reader says what changes
  }

  /** The open head's scores in a stored record. */
  describeScores() {
    const { now: { record, heads }, head: { kind, layer, head } } = this.state;
    const at = heads[kind].slice(0, layer).flat().length + head;
    const said = record?.scores[kind]?.map(({ label, values }) => `${label} ${formatNumber(values[at])}`) ?? [];
    return said.length ? `This head: ${said.join(", ")}.` : "";
  }

  drawSlider() {
    const { state } = this;
    const { row, key } = state;
    this.share.hidden = !state.canChange;
    this.slider.hidden = !state.canShare;
    if (!state.canShare) return void this.said.replaceChildren("Press a cell to change its weight."); // the line keeps its room
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const { share, open: { scores } } = state;
    const isSet = scores && state.findPoints(state.head, row).length > 0;
    this.slider.value = Math.round(100 * share);
    this.slider.setAttribute("aria-label", `Share of “${keys[key]}” in the row of “${rows[row]}”`);
    const own = isSet ? `; its own weight would be ${formatNumber(softmax(scores[row])[key])}` : ". Drag the slider, or the cell itself up or down";
    this.said.replaceChildren("“", word(keys[key]), `” has ${formatNumber(share)} of this row${own}.`);
  }
}
