// What could be written at the open step: the likeliest words, before and after the changes, on a log scale.

import { make, word } from "../elements.js";
import { moveOf } from "./said.js";
import { wordsAtStake } from "./stakes.js";

const LEAST = 1e-5; // where the scale begins
const share = (p) => Math.max(0, 1 - Math.log10(Math.max(p, LEAST)) / Math.log10(LEAST));

export class NextWords {
  constructor(state) {
    this.state = state;
    this.element = make("section", { className: "next", "aria-label": "Words that could be written" });
  }

  draw() {
    const { state } = this;
    const { step, before, probabilities } = state;
    const found = wordsAtStake(before.probabilities[step], probabilities[step], 8);
    const lines = found.map(({ id, before: was, after }) => {
      const bar = (p, className) => {
        const mark = make("i", { className });
        mark.style.width = `${100 * share(p)}%`;
        return mark;
      };
      const numbers = moveOf(was, state.isChanged ? after : null);
      return make("li", { className: id === before.written[step] ? "taken" : "" }, word(state.engine.target.tokens([id])[0]),
        make("span", { className: "track" }, bar(was, "was"), bar(after, "is")), make("span", { className: "value" }, numbers));
    });
    const read = before.tokens.read.slice(0, step + 1);
    this.element.replaceChildren(
      make("h3", {}, `Step ${step + 1}: what comes after “${read.at(-1)}”?`),
      make("ul", {}, ...lines),
      make("p", { className: "note" }, `On a logarithmic scale from 0.00001 to 1, so that small probabilities show too. Black tick: ${state.baseline}, whose words stand before this step.`));
  }
}
