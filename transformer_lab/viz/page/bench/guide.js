// Things to try, one after the other: what to do, and when it is done, what was to be seen.

import { action, make } from "../elements.js";

export class Guide {
  /** `prompts` have what to `ask`, the `goal` as an address says it, and what to say `then`. */
  constructor(state, prompts) {
    Object.assign(this, { state, prompts, at: 0, done: new Set() });
    this.body = make("div", { role: "status" });
    this.title = make("summary", {});
    this.element = make("details", { className: "guide", open: true, hidden: !prompts.length }, this.title, this.body);
  }

  draw() {
    const { state, prompts, at, done } = this;
    if (!prompts.length || state.problem) return;
    const { ask, goal, then } = prompts[at];
    if (state.isAt(goal)) done.add(at);
    this.title.textContent = `Two minutes: ${at + 1} of ${prompts.length}`;
    const step = (control, text, to) => {
      const button = action(control, text, `${text} thing to try`, () => {
        this.at = to;
        this.draw();
      });
      button.disabled = to < 0 || to >= prompts.length;
      return button;
    };
    this.body.replaceChildren(
      make("p", {}, ask),
      ...(done.has(at) ? [make("p", { className: "seen" }, then)] : []),
      make("p", { className: "buttons" }, step("guide back", "Previous", at - 1), step("guide on", "Next", at + 1)));
  }
}
