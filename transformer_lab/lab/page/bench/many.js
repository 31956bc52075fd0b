// Was it luck? The muted heads on many sentences, whose right translations are known.

import { action, make } from "../elements.js";
import { toShortName } from "./names.js";

export class Many {
  /** `examples` are pairs of a sentence and its right translation. */
  constructor(state, examples) {
    Object.assign(this, { state, examples, right: new Map(), asked: null });
    const title = "Translate them with nothing muted, and with what is muted now";
    this.said = make("span", { role: "status", className: "note" });
    this.element = make("section", { className: "many", hidden: !examples.length },
      action("many", `Test on ${examples.length} sentences`, title, () => this.test()), this.said);
  }

  /** The muted heads as one name. */
  get muted() {
    return this.state.mute.map(toShortName).sort().join();
  }

  /** How many are right with the muted heads; counted once. */
  async count(mute) {
    const name = mute.map(toShortName).sort().join();
    if (this.right.has(name)) return;
    let right = 0;
    for (const [i, [source, target]] of this.examples.entries()) {
      right += this.state.engine.translate(source, { mute }).translation === target;
      this.progress = `${mute.length ? `Without ${name}` : "Nothing muted"}: at sentence ${i + 1} of ${this.examples.length} …`;
      this.draw();
      await new Promise((done) => setTimeout(done)); // the page's own events, between two sentences
    }
    this.right.set(name, right);
  }

  async test() {
    if (this.asked != null) return;
    this.asked = this.muted;
    const { mute } = this.state;
    await this.count([]);
    await this.count(mute);
    this.state.tested = this.asked;
    this.asked = null;
    this.state.tell();
  }

  draw() {
    const { examples, right, muted, asked } = this;
    if (!examples.length) return;
    const all = examples.length;
    if (asked != null) return void (this.said.textContent = this.progress ?? "");
    const known = right.has("") && right.has(muted);
    const change = muted ? `, ${right.get(muted)} without ${muted.replaceAll(",", ", ")}` : "";
    this.said.textContent = known
      ? `Of ${all} other sentences, ${right.get("")} are right to the letter with nothing muted${change}.`
      : right.has("") ? "Other heads are muted now: press again." : this.state.points.length ? "Only muted heads are tested: a pointed row names words of this sentence." : "";
  }
}
