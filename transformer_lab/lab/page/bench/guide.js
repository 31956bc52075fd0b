// Things to try, one after the other: what to do, and when it is done, what was to be seen.

import { action, make } from "../elements.js";

export class Guide {
  /** `prompts` have what to `ask`, the `goal` as an address says it, and what to say `then`. */
  constructor(state, prompts) {
    Object.assign(this, { state, prompts, at: 0, done: new Set() });
    this.title = make("summary", {});
    this.ask = make("p", { role: "status" });
    this.seen = make("p", { className: "seen", role: "status" });
    // What is to come keeps its room, so that nothing below moves when it comes.
    this.room = make("p", { className: "to-come", "aria-hidden": "true" });
    this.steps = [this.buildStepButton("guide back", "Previous", -1), this.buildStepButton("guide on", "Next", 1)];
    this.element = make("details", { className: "guide", open: true, hidden: !prompts.length },
      this.title, this.ask, make("div", { className: "then" }, this.room, this.seen), make("p", { className: "buttons" }, ...this.steps));
  }

  buildStepButton(control, text, by) {
    return action(control, text, `${text} thing to try`, () => {
      this.at += by;
      this.draw();
    });
  }

  draw() {
    const { state, prompts, at, done } = this;
    if (!prompts.length) return;
    const { ask, goal, then } = prompts[at];
    if (state.isAt(goal)) done.add(at);
    this.title.textContent = `To try: ${at + 1} of ${prompts.length}`;
    // A screen reader says what changes: only then is it written.
    const write = (element, text) => element.textContent === text || (element.textContent = text);
    write(this.ask, ask);
    write(this.room, then);
    write(this.seen, done.has(at) ? then : "");
    this.steps[0].disabled = at === 0;
    this.steps[1].disabled = at === prompts.length - 1;
  }
}
