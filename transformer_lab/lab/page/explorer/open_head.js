// The head that is open: its name, its scores, what can be done with it, and its map or its lines.

import { action, make, toggle } from "../elements.js";
import { drawMapSvg, drawLinesSvg, saveDrawing } from "../export.js";
import { KINDS } from "../record.js";
import { formatHeadName, formatNumber } from "../text.js";
import { findGoldRings, hasGold } from "./gold.js";
import { Lines } from "./lines.js";
import { Matrix } from "./matrix.js";

export class OpenHead {
  /** `actions` are further buttons, for what a model can be asked. */
  constructor(selection, actions) {
    this.selection = selection;
    this.title = make("div", { className: "title", role: "heading", "aria-level": 3 });
    this.facts = make("p", { className: "facts" });
    this.views = { matrix: new Matrix(selection), lines: new Lines(selection) };
    this.element = this.views.matrix.element; // of the view that is shown
    this.toggles = [
      this.buildSetting("lines", "Lines", "view", "lines", "matrix"),
      this.buildSetting("root", "Show small weights", "palette", "root", "weight"),
      this.buildSetting("gold", "Show gold", "gold", true, false),
    ];
    this.gold = this.toggles[2];
    const files = ["svg", "png"].map((format) => {
      const name = format.toUpperCase();
      return action(format, name, `Save this map as ${name}`, () => this.save(format));
    });
    this.bar = make("div", { className: "bar" }, this.title,
      make("div", { className: "views" }, ...this.toggles, ...actions, ...files));
  }

  buildSetting(control, text, name, on, off) {
    const { selection } = this;
    const isOn = () => selection.settings[name] === on;
    return toggle(control, text, isOn, () => selection.change(name, isOn() ? off : on));
  }

  get view() {
    return this.views[this.selection.settings.view];
  }

  drawHead() {
    const { record, kind, layer, head, scores, settings } = this.selection;
    this.title.textContent = `${KINDS[kind].name} attention, ${formatHeadName(layer, head).toLowerCase()}`;
    const place = record.heads[kind].slice(0, layer).reduce((sum, count) => sum + count, head);
    this.facts.replaceChildren(...scores.map(({ label, values, means }) =>
      make("span", { title: means }, `${label} `, make("b", {}, formatNumber(values[place])))));
    this.toggles.forEach((button) => button.refresh());
    this.gold.hidden = settings.view !== "matrix" || !hasGold(record, kind);
    // In its place first: how large it may be is asked of the page.
    if (this.element !== this.view.element) this.element.replaceWith(this.view.element);
    this.element = this.view.element;
    this.view.drawHead();
  }

  drawPlace() {
    this.view.drawPlace();
  }

  save(format) {
    const { map, record, kind, layer, head, tokens, colours, pinned, settings } = this.selection;
    const title = this.title.textContent;
    const rings = settings.gold ? findGoldRings(record, kind) : [];
    const picture = settings.view === "lines"
      ? drawLinesSvg(this.views.lines.findVisibleLines(pinned), tokens, title)
      : drawMapSvg(map, tokens, colours, title, { rings, pinned });
    saveDrawing(picture, `attention_${kind}_${layer + 1}_${head + 1}`, format);
  }
}
