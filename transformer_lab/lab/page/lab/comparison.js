// What the model answers before a change and after it, side by side.

import { findStepsAtStake } from "./stakes.js";

export class Comparison {
  /** `before` and `now` are answers, and `read` is the changed model at the words of `before`; null where it was not asked. */
  constructor({ before, now, read }) {
    Object.assign(this, { before, now, read });
    /** The first step at which the changed model writes another word; −1 if it writes the same. */
    this.parting = before.written.findIndex((id, step) => id !== now.written[step]);
  }

  get writesSame() {
    return String(this.now.written) === String(this.before.written);
  }

  /** Whether the changed model was asked for this word behind the same words as before. */
  isComparable(step) {
    return Boolean(this.read) || this.parting < 0 || step <= this.parting;
  }

  /**
   * The probabilities at each step of the words of `before`, in the model as it is changed; null where nobody
   * has kept them. Where the changed model was not asked about those words, it has its own before them only up
   * to the first that it writes otherwise: the steps behind that one are as before.
   */
  get probabilities() {
    const { before, now, read } = this;
    if (read || !before.probabilities) return read?.probabilities ?? null;
    return before.probabilities.map((own, step) => (this.isComparable(step) && now.probabilities?.[step]) || own);
  }

  /** The step whose probabilities moved most; undefined where none moved. */
  get movedStep() {
    const { before, probabilities, parting } = this;
    this.moved ??= probabilities ? findStepsAtStake(before.probabilities, probabilities, 1) : [parting].filter((at) => at >= 0);
    return this.moved[0];
  }
}
