// The steps of a drawing: a button for each, one back, one on, one that plays them, and what the step says.

import { action, make, OWN_KEYS } from "../elements.js";
import { isStill } from "../still.js";

const LETTER = 45; // milliseconds in which a letter is read
const LEAST = 2500; // milliseconds for what is seen, however little is said

export class Steps {
  /** `names` are the buttons' texts; `draw(step)` shows a step and returns what it says, a text or nodes. */
  constructor(names, draw) {
    this.draw = draw;
    this.step = 0;
    this.buttons = names.map((name, i) => action(`step ${i}`, name, `Step ${i + 1} of ${names.length}: ${name}`, () => this.go(i)));
    this.back = action("back", "◀", "One step back", () => this.go(this.step - 1));
    this.next = action("next", "Next ▶", "One step forward", () => this.go(this.step + 1));
    this.player = action("play", "", "", () => this.toggle());
    [this.back, this.next, this.player, ...this.buttons].forEach((button) => Object.entries(OWN_KEYS).forEach(([name, value]) => button.setAttribute(name, value)));
    this.said = make("div", { className: "said", "aria-live": "polite" });
    const row = make("div", { className: "names" }, ...this.buttons);
    this.bar = make("div", { className: "steps", role: "group", "aria-label": "Steps" }, this.back, this.next, this.player, row);
    this.bar.addEventListener("keydown", (event) => this.onKey(event));
    this.stop();
  }

  /** Give a step another name; where steps are a way into something, they say where it leads. */
  rename(i, name) {
    const title = `Step ${i + 1} of ${this.buttons.length}: ${name}`;
    Object.assign(this.buttons[i], { textContent: name, title }).setAttribute("aria-label", title);
  }

  onKey(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.step + by);
    this.buttons[this.step].focus();
  }

  get last() {
    return this.buttons.length - 1;
  }

  /** Show this step; before the first and behind the last there is none. */
  go(step) {
    this.step = Math.max(0, Math.min(this.last, step));
    this.buttons.forEach((button, i) => {
      button.classList.toggle("done", i < this.step);
      if (i === this.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.said.replaceChildren(...[this.draw(this.step)].flat());
    const pressed = this.bar.getRootNode().activeElement;
    this.back.disabled = this.step === 0;
    this.next.disabled = this.step === this.last;
    if (pressed?.disabled && this.bar.contains(pressed)) this.player.focus(); // or the keyboard would lose its place
  }

  /** Play from here, or from the start again if this is the last step; or pause. */
  toggle() {
    if (this.timer) return this.stop();
    this.pressed = new AbortController();
    const how = { capture: true, signal: this.pressed.signal };
    for (const kind of ["click", "keydown", "input"]) this.bar.parentElement.addEventListener(kind, (event) => this.onPress(event), how);
    this.nameButton("Pause ❚❚", "Pause");
    this.goOn(this.step === this.last ? 0 : this.step + 1);
  }

  /** Show a step and wait until it can have been read; the last one ends it, and so does leaving the page or being folded away. */
  goOn(step) {
    this.go(step);
    if (step === this.last) return this.stop();
    const wait = Math.max(LEAST, LETTER * this.said.textContent.length);
    if (!isStill()) this.player.animate([{ backgroundSize: "0 3px" }, { backgroundSize: "100% 3px" }], wait);
    this.timer = setTimeout(() => (this.bar.offsetParent ? this.goOn(step + 1) : this.stop()), wait);
  }

  /** A reader who presses anything wants to look at it; only the keys that lead to the button don't count. */
  onPress(event) {
    const leads = event.key === "Tab" || event.key === "Shift";
    if (!leads && !this.player.contains(event.target)) this.stop();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.pressed?.abort();
    this.player.getAnimations().forEach((wait) => wait.cancel());
    this.nameButton("Play ▶", "Play all steps");
  }

  nameButton(text, name) {
    this.player.textContent = text;
    this.player.title = name;
    this.player.setAttribute("aria-label", name);
  }
}
