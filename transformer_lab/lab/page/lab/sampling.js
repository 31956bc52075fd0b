// Let chance choose the words: many translations of one sentence, each word drawn by its probability.

import { action, make, OWN_KEYS } from "../elements.js";
import { makeRandom } from "../engine/untrained.js";
import { makeVisible } from "../text.js";
import { makeHookOptions } from "./changes.js";

const TRANSLATIONS = 20;

export class Sampling {
  constructor(state) {
    Object.assign(this, { state, seed: 0 });
    this.temperature = this.buildSlider("Temperature", { min: 0.1, max: 3, step: 0.1, value: 1 });
    this.topP = this.buildSlider("Top-p", { min: 0.05, max: 1, step: 0.05, value: 1 });
    this.said = make("p", { role: "status" });
    this.list = make("ol", {});
    this.element = make("details", { className: "sampling" }, make("summary", {}, "Sampling: let chance choose the words"),
      make("p", {}, "So far the model has always written the likeliest word. Here each word is drawn by chance instead, and a word with a probability of 0.3 comes up in about three of ten draws. A temperature above 1 makes unlikely words likelier, and one below 1 makes them less likely. Top-p keeps only the likeliest words, as many as it takes for their probabilities to add up to p."),
      make("p", { className: "bar" }, this.temperature.element, this.topP.element, action("sample", `Draw ${TRANSLATIONS} translations`, "Draw translations with what is changed now", () => this.drawTranslations())),
      this.said, this.list);
  }

  buildSlider(name, range) {
    const slider = make("input", { type: "range", ...range, "aria-label": name, ...OWN_KEYS });
    const said = make("output", {}, String(range.value));
    slider.addEventListener("input", () => (said.textContent = slider.value));
    return { slider, element: make("label", {}, `${name} `, slider, " ", said) };
  }

  /** Draw as many translations as there is room for, the next ones at each press, and count equal ones. */
  drawTranslations() {
    const { state } = this;
    const options = { ...makeHookOptions(state), random: makeRandom(this.seed++), temperature: Number(this.temperature.slider.value), topP: Number(this.topP.slider.value) };
    const counts = new Map();
    for (let i = 0; i < TRANSLATIONS; i++) {
      const text = state.engine.sample(state.text, options);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    this.said.textContent = `${TRANSLATIONS} drawn, ${counts.size} different:`;
    const sorted = [...counts].sort(([, a], [, b]) => b - a);
    this.list.replaceChildren(...sorted.map(([text, count]) => make("li", {}, `${count} × `, make("bdi", {}, makeVisible(text)))));
  }

  /** Translations of another sentence, or with other changes, are not those of this one. */
  draw() {
    const { text, now } = this.state;
    if (this.of === now && this.text === text) return;
    Object.assign(this, { of: now, text });
    this.said.textContent = "";
    this.list.replaceChildren();
  }
}
