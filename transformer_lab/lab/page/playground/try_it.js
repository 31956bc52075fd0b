// A line of the reader's own: every model writes what it makes of it, and again while it learns.

import { make, OWN_KEYS, word, writeText } from "../elements.js";

/** Whether two answers say the same. */
const isSame = (one, other) => one?.text === other?.text && one?.note === other?.note && one?.problem === other?.problem;

export class TryIt {
  constructor() {
    this.runs = [];
    this.shown = []; // answers
    this.asked = []; // how many moments each run had when it was last asked
    this.input = make("input", { type: "text", "data-control": "try", autocomplete: "off", spellcheck: false, maxLength: 200, ...OWN_KEYS });
    this.input.addEventListener("input", () => {
      this.asked = [];
      this.draw(this.isPast);
    });
    this.answers = make("ul", { "aria-live": "polite" });
    this.note = make("p", { className: "note" });
    this.element = make("section", { className: "try" }, make("label", {}, make("span", {}, "Try one of your own"), this.input), this.answers, this.note);
  }

  /** Take up new runs; what was typed for another task is gone. */
  follow(runs, example) {
    this.runs = runs;
    this.asked = [];
    this.input.value = "";
    this.input.placeholder = example.source;
    this.draw(false);
  }

  /** Ask every model that has learned more since it was last asked. */
  ask() {
    this.runs.forEach((run, i) => {
      const moments = run.isRunning ? run.moments.length : Infinity;
      if (this.asked[i] === moments) return;
      this.asked[i] = moments;
      run.write(this.input.value);
    });
  }

  /** `isPast` is whether the page shows an earlier moment, from which there is no model left. */
  draw(isPast) {
    this.isPast = isPast;
    this.element.hidden = !this.runs.some(({ worker, moments }) => worker && moments.length);
    if (this.input.value && !this.element.hidden) this.ask();
    writeText(this.note, isPast && this.input.value ? "These are the answers of the model as it is now, not as it was at that step." : "");
    const answers = this.runs.map((run) => (this.input.value ? run.answer : null));
    if (answers.length === this.shown.length && answers.every((said, i) => isSame(said, this.shown[i]))) return; // a screen reader says each once
    this.shown = answers;
    const answer = (said, i) => {
      if (!said) return [];
      const whose = this.runs.length > 1 ? ["Your model: ", "The other one: "][i] : "";
      const note = said.note ? make("small", {}, ` ${said.note}`) : null;
      return [make("li", { className: said.problem ? "problem" : "" }, whose, said.problem ?? word(said.text || "(nothing)"), note)];
    };
    this.answers.replaceChildren(...answers.flatMap(answer));
  }
}
