// Decoding, step by step: what was read, what was written, and what else was likely.

import { make, OWN_KEYS, word, words } from "../elements.js";
import { formatProbability, makeVisible } from "../text.js";

export class Steps {
  constructor(selection) {
    this.selection = selection;
    this.step = 0; // whose words are shown: that of the row which was looked at last
    this.slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Decoding step", ...OWN_KEYS });
    this.slider.addEventListener("input", () => selection.setPinned([Number(this.slider.value), null]));
    this.name = make("span", {});
    this.text = make("div", {});
    this.element = make("div", { className: "steps" }, make("label", {}, this.name, this.slider), this.text);
  }

  /** The step of the chosen row, if one is chosen. */
  get current() {
    return this.selection.chosen?.[0] ?? this.step;
  }

  drawPlace() {
    if (this.current !== this.step) this.drawHead();
  }

  drawHead() {
    const { record, kind } = this.selection;
    const { next_tokens: next, written, target, begun } = record;
    this.element.hidden = !next || kind === "encoder";
    if (this.element.hidden) return;
    const last = written.length - 1;
    const step = Math.min(this.current, last);
    this.step = step;
    Object.assign(this.slider, { max: last, value: step });
    this.slider.setAttribute("aria-valuetext", `step ${step + 1}, writes ${makeVisible(written[step])}`);
    const likely = begun ? "Most probable pieces to begin it" : "Most probable next words";
    this.name.textContent = `Step ${step + 1} of ${last + 1} `;
    this.text.replaceChildren(
      make("p", {}, "Read so far: ", ...words(target.slice(0, step + 1)), "→ writes ", make("b", {}, word(written[step]))),
      make("p", { className: "likely" }, `${likely}:`),
      make("ul", { "aria-label": likely }, ...makeWordBars(next[step], (begun ?? written)[step])));
  }
}

/** A bar for each next word [token, probability], and what is left for all others. */
function makeWordBars(next, taken) {
  const found = next.map(([token, chance]) => {
    const bar = make("i", {});
    bar.style.width = `${100 * chance}%`;
    return make("li", { className: token === taken ? "taken" : "" },
      word(token), make("span", { className: "track" }, bar), make("span", {}, formatProbability(chance)));
  });
  const others = Math.max(0, 1 - next.reduce((sum, [, chance]) => sum + chance, 0));
  const texts = ["all others together", "", formatProbability(others)];
  return [...found, make("li", { className: "others" }, ...texts.map((text) => make("span", {}, text)))];
}
