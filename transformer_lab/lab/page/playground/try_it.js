// A line of the reader's own: every model writes what it makes of it.

import { make, OWN_KEYS, word } from "../elements.js";

export class TryIt {
  constructor() {
    this.runs = [];
    this.shown = []; // answers
    this.input = make("input", { type: "text", "data-control": "try", autocomplete: "off", spellcheck: false, maxLength: 200, ...OWN_KEYS });
    this.input.addEventListener("input", () => this.ask());
    this.answers = make("ul", { "aria-live": "polite" });
    this.element = make("section", { className: "try" }, make("label", {}, make("span", {}, "Try one of your own on the trained model"), this.input), this.answers);
  }

  /** Take up new runs; what was typed for another task is gone. */
  follow(runs, example) {
    this.runs = runs;
    this.input.value = "";
    this.input.placeholder = example.source;
    this.draw();
  }

  ask() {
    for (const run of this.runs) run.write(this.input.value);
    if (!this.input.value) this.draw();
  }

  draw() {
    this.element.hidden = !this.runs.some(({ worker, moments }) => worker && moments.length);
    const answers = this.runs.map((run) => (this.input.value ? run.answer : null));
    if (answers.length === this.shown.length && answers.every((said, i) => said === this.shown[i])) return; // a screen reader says each once
    this.shown = answers;
    const answer = (said, i) => {
      if (!said) return [];
      const whose = this.runs.length > 1 ? ["Your model: ", "The other one: "][i] : "";
      return [make("li", { className: said.problem ? "problem" : "" }, whose, said.problem ?? word(said.text || "(nothing)"))];
    };
    this.answers.replaceChildren(...answers.flatMap(answer));
  }
}
