// What could be written at the open step: the likeliest words, before and after the changes, side by side.

import { make, word, writeText } from "../elements.js";
import { findStrongest } from "../ranking.js";
import { makeVisible } from "../text.js";
import { formatProbabilityChange } from "./said.js";
import { findWordsAtStake } from "./stakes.js";

const MOST_WORDS = 5;

export class NextWords {
  /** `many`, if there is one, stands at the panel's foot: after one sentence come others. */
  constructor(state, many) {
    Object.assign(this, { state, many });
    this.title = make("h3", {});
    this.list = make("ul", {});
    this.legend = make("p", { className: "legend" });
    this.said = make("p", { className: "stakes", role: "status" });
    this.element = make("section", { className: "next", "aria-label": "The next word" }, this.title, this.list, this.legend, this.said, many?.element);
  }

  draw() {
    const { state } = this;
    const { step, before, comparison: { probabilities } } = state;
    // Of a record the probabilities may not have been kept: then only what the changes did can be said.
    this.element.hidden = !probabilities && !state.isChanged;
    for (const part of [this.title, this.list, this.legend]) part.hidden = !probabilities;
    writeText(this.said, this.describe());
    if (!probabilities) return;
    const found = findWordsAtStake(before.probabilities[step], probabilities[step], MOST_WORDS);
    const shown = found.filter(({ before: was, after }, i) => i < 2 || Math.max(was, after) >= 0.005);
    const written = this.findWritten();
    const taken = before.tokens.read[step]; // the word that stands before this one
    this.title.replaceChildren(...(step ? ["Which word comes after “", word(taken), "”?"] : ["Which word comes first?"]));
    this.list.replaceChildren(...shown.map((one) => this.buildLine(one, one.id === written)));
    this.legend.hidden = !state.isCompared;
    this.legend.replaceChildren(make("i", { className: "was" }), ` ${state.baseline} `, make("i", { className: "is" }), " as changed now");
    this.many?.draw();
  }

  buildLine({ id, before: was, after }, isWritten) {
    const { state } = this;
    const bar = (p, className) => {
      const mark = make("i", { className });
      mark.style.width = `${100 * p}%`;
      return mark;
    };
    const { isCompared, before, now, read, step } = state;
    const least = [before, read ?? now].map((answer) => answer.least?.[step]);
    return make("li", { className: isWritten ? "taken" : "" }, word(state.answerer.getWord(id)),
      make("span", { className: "track" }, ...(isCompared ? [bar(was, "was")] : []), bar(after, "is")),
      make("span", { className: "value" }, formatProbabilityChange(was, isCompared ? after : null, least)));
  }

  /** The word that is written at the open step: after a change, the likeliest. */
  findWritten() {
    const { isCompared, before, comparison: { probabilities }, step } = this.state;
    return isCompared ? findStrongest(probabilities[step], 1)[0] : before.written[step];
  }

  /** What the changes did to the translation, in words; "" if nothing is changed. */
  describe() {
    const { state } = this;
    const { before, now, step, comparison, comparison: { parting } } = state;
    if (!state.isChanged) return "";
    if (!comparison.probabilities) return comparison.writesSame ? `The translation is the same as with ${state.baseline}.` : `Now it writes: ${makeVisible(now.translation)}.`;
    if (!comparison.isComparable(step)) return `Now it writes: ${makeVisible(now.translation)}. The two translations differ from word ${parting + 1} onwards, so the probabilities of this later word can't be compared.`;
    if (comparison.movedStep == null) return `Nothing moves: no word's probability changes by 0.005 or more, compared with ${state.baseline}.`;
    const behind = parting >= 0 && step > parting
      ? ` The changed model wrote “${makeVisible(now.tokens.written[parting])}” as word ${parting + 1}. To compare like with like, we let it continue the words of ${state.baseline} here.`
      : "";
    if (now.translation === before.translation) return `The translation is the same as with ${state.baseline}, but the probabilities move.${behind}`;
    return `Now it writes: ${makeVisible(now.translation)}.${behind}`;
  }
}
