// The steps of a drawing: a button for each, one back, one on, and what the step says.

import { action, make, OWN_KEYS } from "../elements.js";

export class Steps {
  /** `names` are the buttons' texts; `draw(step)` shows a step and returns what it says, a text or nodes. */
  constructor(names, draw) {
    this.draw = draw;
    this.step = 0;
    this.buttons = names.map((name, i) => action(`step ${i}`, name, `Step ${i + 1} of ${names.length}: ${name}`, () => this.go(i)));
    this.back = action("back", "◀", "One step back", () => this.go(this.step - 1));
    this.next = action("next", "Next ▶", "One step on", () => this.go(this.step + 1));
    [this.back, this.next, ...this.buttons].forEach((button) => Object.entries(OWN_KEYS).forEach(([name, value]) => button.setAttribute(name, value)));
    this.said = make("div", { className: "said", "aria-live": "polite" });
    this.row = make("div", { className: "names" }, ...this.buttons);
    this.bar = make("div", { className: "steps", role: "group", "aria-label": "Steps" }, this.back, this.next, this.row);
    this.bar.addEventListener("keydown", (event) => this.onKey(event));
  }

  onKey(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.step + by);
    this.buttons[this.step].focus();
  }

  /** Show this step; before the first and behind the last there is none. */
  go(step) {
    this.step = Math.max(0, Math.min(this.buttons.length - 1, step));
    this.back.disabled = this.step === 0;
    this.next.disabled = this.step === this.buttons.length - 1;
    this.buttons.forEach((button, i) => {
      button.classList.toggle("done", i < this.step);
      if (i === this.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    // Where the row is longer than a phone is wide, the step stands in its middle.
    const { offsetLeft, offsetWidth } = this.buttons[this.step];
    this.row.scrollLeft = offsetLeft + offsetWidth / 2 - this.row.clientWidth / 2;
    this.said.replaceChildren(...[this.draw(this.step)].flat());
  }
}
