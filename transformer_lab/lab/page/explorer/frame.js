// What changes with the record alone: its sentence and unknown words, what was left out, the training's slider.

import { make, OWN_KEYS, word, words } from "../elements.js";

const LONG = 60; // tokens: so many may need to scroll

/** Source and translation; of a live explorer the translation alone, for the source stands in its box. */
export class Sentence {
  constructor(selection, live) {
    Object.assign(this, { selection, live });
    this.element = make("p", { className: "sentence" });
  }

  drawRecord() {
    const { source, written } = this.selection.record;
    const shown = !this.live && source.length > 0;
    this.element.replaceChildren(
      ...(shown ? [make("span", { className: "text" }, ...words(source))] : []),
      ...(shown && written.length ? ["→ "] : []),
      make("span", { className: "text written" }, ...words(written)));
    this.element.hidden = !written.length && this.live;
    // A long one scrolls, and what scrolls must be within the reach of the keyboard.
    if (source.length + written.length > LONG) this.element.tabIndex = 0;
    else this.element.removeAttribute("tabindex");
  }
}

export class LeftOut {
  constructor(selection) {
    this.selection = selection;
    this.element = make("p", { className: "left-out" });
  }

  drawRecord() {
    const { left_out } = this.selection.record;
    this.element.hidden = !left_out;
    this.element.textContent = left_out ?? "";
  }
}

/** Words that the model has no token for, struck: what it read in their place is on the axes. */
export class Unknown {
  constructor(selection) {
    this.selection = selection;
    this.element = make("p", { className: "unknown", role: "status" });
  }

  drawRecord() {
    const { unknown = [] } = this.selection.record;
    this.element.hidden = !unknown.length;
    const struck = unknown.flatMap((token) => [make("s", {}, word(token)), " "]);
    const said = unknown.length === 1 ? "is no word of this model" : "are no words of this model";
    this.element.replaceChildren(...(unknown.length ? [...struck, `${said}: it has read `, word("<unk>"), " in place."] : []));
  }
}

/** A slider through the records. */
export class Snapshots {
  constructor(selection) {
    this.selection = selection;
    this.slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Training snapshot", ...OWN_KEYS });
    this.slider.addEventListener("input", () => selection.openRecord(Number(this.slider.value)));
    this.name = make("output", {});
    this.element = make("div", { className: "snapshots" },
      make("label", {}, "Training ", this.slider), this.name);
  }

  drawRecord() {
    const { record, records, number } = this.selection;
    const name = record.label ?? `record ${number + 1}`;
    this.element.hidden = records.length < 2;
    Object.assign(this.slider, { max: records.length - 1, value: number });
    this.slider.setAttribute("aria-valuetext", name);
    this.name.textContent = name;
  }
}
