// Things to try, one after the other: what to do, and when it is done, what was to be seen.

import { action, make, writeText } from "../elements.js";

export class Guide {
  /** `prompts` have what to `ask`, `start` and `goal` as an address says them, and what to say `then`. */
  constructor(state, prompts) {
    Object.assign(this, { state, prompts, at: 0, done: new Set() });
    this.title = make("summary", {});
    this.ask = make("p", { role: "status" });
    this.seen = make("p", { className: "seen", role: "status" });
    // What is to come keeps its room, so that nothing below moves under the reader's pointer when it comes.
    this.room = make("p", { className: "to-come", "aria-hidden": "true" });
    this.back = this.buildStepButton("guide back", "Back", "Previous thing to try", -1);
    this.again = action("guide again", "Set it up again", "Restore the sentence and the changes that this step starts with", () => state.follow(prompts[this.at].start));
    this.next = this.buildStepButton("guide on", "Next", "Next thing to try", 1);
    this.element = make("details", { className: "guide", "aria-label": "Things to try", open: true, hidden: !prompts.length },
      this.title, this.ask, make("div", { className: "then" }, this.room, this.seen), make("p", { className: "buttons" }, this.again, this.back, this.next));
  }

  buildStepButton(control, text, title, by) {
    return action(control, text, title, () => {
      this.at += by;
      const { start } = this.prompts[this.at];
      if (start) this.state.follow(start);
      else this.draw();
      const [pressed, other] = by > 0 ? [this.next, this.back] : [this.back, this.next];
      if (pressed.hidden) other.focus(); // or the keyboard would lose its place
    });
  }

  draw() {
    const { state, prompts, at, done } = this;
    if (!prompts.length) return;
    const { ask, goal, then, start } = prompts[at];
    const isThere = state.isAt(goal);
    if (isThere) done.add(at);
    writeText(this.title, `Try this (${at + 1} of ${prompts.length})`);
    writeText(this.ask, ask);
    writeText(this.room, then);
    writeText(this.seen, done.has(at) ? then : "");
    this.again.hidden = !start || isThere || state.isSetUp(start);
    this.back.hidden = at === 0;
    this.next.hidden = at === prompts.length - 1;
    this.element.classList.toggle("finished", this.next.hidden && done.has(at)); // then it needn't stay in sight
  }
}
