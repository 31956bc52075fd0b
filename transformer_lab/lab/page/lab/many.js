// Was it luck? The muted heads on many sentences, whose right translations are known.

import { action, make } from "../elements.js";
import { toCode } from "./names.js";

/** Muted heads as one name. */
const nameHeads = (mute) => mute.map(toCode).sort().join();

export class Many {
  /** `examples` are pairs of a sentence and its right translation. */
  constructor(state, examples) {
    Object.assign(this, { state, examples, right: new Map(), asked: null });
    const title = "Translate these sentences with nothing muted, and then with the heads muted now";
    this.button = action("many", `Was it luck? Try ${examples.length} sentences`, title, () => this.test());
    this.said = make("span", { role: "status", tabIndex: -1 });
    this.progress = make("span", { "aria-hidden": "true" }); // a screen reader hears the result alone
    this.bars = make("span", { className: "track", "aria-hidden": "true" }, make("i", { className: "was" }), make("i", { className: "is" }));
    this.element = make("p", { className: "many" }, this.button, this.bars, this.progress, this.said);
  }

  /** How many are right with the muted heads; counted once. */
  async count(mute) {
    const name = nameHeads(mute);
    if (this.right.has(name)) return;
    let right = 0;
    for (const [i, [source, target]] of this.examples.entries()) {
      right += this.state.engine.translate(source, { mute }).translation === target;
      this.progress.textContent = `${mute.length ? "With what is muted" : "With nothing muted"}: sentence ${i + 1} of ${this.examples.length} …`;
      await new Promise((done) => setTimeout(done)); // the page's own events, between two sentences
    }
    this.right.set(name, right);
  }

  async test() {
    if (this.asked != null) return;
    const { mute } = this.state;
    this.asked = nameHeads(mute);
    this.draw();
    this.said.focus({ preventScroll: true }); // the button is gone for now
    await this.count([]);
    await this.count(mute);
    this.state.tested = this.asked;
    this.asked = null;
    this.state.tell();
  }

  draw() {
    const { examples, right, asked, state } = this;
    const muted = nameHeads(state.mute);
    // A row that was told where to look names words of this sentence alone: only muted heads can be tried on others.
    this.element.hidden = !examples.length || (!state.mute.length && asked == null);
    if (this.element.hidden) return;
    const all = examples.length;
    const isKnown = asked == null && right.has("") && right.has(muted);
    this.button.hidden = isKnown || asked != null;
    this.bars.hidden = !isKnown;
    this.progress.hidden = asked == null;
    if (!isKnown) return void (this.said.textContent = "");
    this.bars.childNodes[0].style.width = `${(100 * right.get("")) / all}%`;
    this.bars.childNodes[1].style.width = `${(100 * right.get(muted)) / all}%`;
    this.said.textContent = `Of ${all} other sentences, the model gets ${right.get("")} right with nothing muted, and ${right.get(muted)} with what is muted now.${state.points.length ? " A row that you told where to look plays no part in this, because the other sentences have different words." : ""}`;
  }
}
