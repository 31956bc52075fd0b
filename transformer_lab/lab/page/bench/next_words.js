// What could be written at the open step: the likeliest words, before and after the changes, on a log scale.

import { make, word } from "../elements.js";
import { formatProbabilityChange } from "./said.js";
import { findWordsAtStake } from "./stakes.js";

const LEAST = 1e-5; // where the scale begins
const toLogScale = (p) => Math.max(0, 1 - Math.log10(Math.max(p, LEAST)) / Math.log10(LEAST));

export class NextWords {
  /** `smoothing` is the ε of the label smoothing that the model was trained with. */
  constructor(state, smoothing) {
    this.state = state;
    this.smoothing = smoothing;
    this.element = make("section", { className: "next", "aria-label": "Words that could be written" });
  }

  draw() {
    const { state } = this;
    const { step, before, probabilities } = state;
    const found = findWordsAtStake(before.probabilities[step], probabilities[step], 8);
    const lines = found.map(({ id, before: was, after }) => {
      const bar = (p, className) => {
        const mark = make("i", { className });
        mark.style.width = `${100 * toLogScale(p)}%`;
        return mark;
      };
      const numbers = formatProbabilityChange(was, state.isChanged ? after : null);
      return make("li", { className: id === before.written[step] ? "taken" : "" }, word(state.engine.target.tokens([id])[0]),
        make("span", { className: "track" }, bar(was, "was"), bar(after, "is")), make("span", { className: "value" }, numbers));
    });
    const read = before.tokens.read.slice(0, step + 1);
    const { parting } = state;
    const other = parting >= 0 && step > parting ? state.now.tokens.written[parting] : null;
    const behind = other == null ? [] : [make("p", { className: "behind" }, `Asked after the words of ${state.baseline}, so that both can be compared. The changed model wrote “`, word(other), `” at step ${parting + 1}.`)];
    this.element.replaceChildren(
      make("h3", {}, `Step ${step + 1}: what comes after “${read.at(-1)}”?`),
      ...behind,
      make("ul", {}, ...lines),
      make("p", { className: "note" }, `On a logarithmic scale from 0.00001 to 1, so that small probabilities show too. Tick: ${state.baseline}, whose words stand before this step.${this.describeFloor()}`));
  }

  /** Below what no word is expected to fall, in words; nothing without label smoothing. */
  describeFloor() {
    if (!this.smoothing) return "";
    const words = this.state.engine.model.config.target_vocab_size;
    return ` Trained with label smoothing, ε = ${this.smoothing}: each of ${words} words was to get at least ε / ${words} = ${(this.smoothing / words).toPrecision(2)}, even one that cannot come.`;
  }
}
