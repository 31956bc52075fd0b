// A line of the reader's own: every model writes what it makes of it.

import { make, OWN_KEYS, word } from "../elements.js";

export class TryIt {
  constructor() {
    this.runs = [];
    this.input = make("input", { type: "text", "data-control": "try", autocomplete: "off", spellcheck: false, maxLength: 200, ...OWN_KEYS });
    this.input.addEventListener("input", () => this.ask());
    this.answers = make("ul", { "aria-live": "polite" });
    this.element = make("section", { className: "try" }, make("label", {}, make("span", {}, "Try one of your own"), this.input), this.answers);
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
    this.element.hidden = !this.runs.some(({ moments }) => moments.length);
    const answer = ({ answer: said }, i) => {
      if (!this.input.value || !said) return [];
      const whose = this.runs.length > 1 ? ["Your model: ", "The other one: "][i] : "";
      return [make("li", { className: said.problem ? "problem" : "" }, whose, said.problem ?? word(said.text || "(nothing)"))];
    };
    this.answers.replaceChildren(...this.runs.flatMap(answer));
  }
}
