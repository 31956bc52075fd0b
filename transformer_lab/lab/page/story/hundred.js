// Screen 5: a hundred sentences, each a dot, translated in slices between two frames, with the wire and without it.

import { make } from "../elements.js";
import { waitForFrame } from "../pause.js";

const SLICE = 28; // milliseconds of work between two frames

export class Hundred {
  /** `count` dots; `act` has cut() and mend(), and counted(), which is called when the numbers are there. */
  constructor(scene, count, finder, act) {
    Object.assign(this, { count, finder, act, engine: null, examples: [], running: null, told: null });
    this.found = { whole: [], cut: [] }; // a translation for each sentence
    this.dots = Array.from({ length: count }, (_, i) => make("button", { type: "button", className: "dot", tabIndex: i ? -1 : 0 }));
    this.grid = make("div", { className: "dots", role: "group", "aria-label": `${count} sentences` }, ...this.dots);
    this.said = make("div", { className: "said" }, make("p", { className: "hint" }, "touch a dot to read its sentence"));
    this.knife = make("button", { type: "button", className: "knife" });
    this.knife.addEventListener("click", () => (this.name === "cut" ? act.mend() : act.cut()));
    this.panel = make("div", { className: "panel hundred" }, this.grid, this.said, this.knife);
    this.dots.forEach((dot, i) => {
      for (const event of ["pointerenter", "focus", "click"]) dot.addEventListener(event, () => this.tell(i));
    });
    this.grid.addEventListener("keydown", (event) => this.step(event));
    scene.append(this.panel);
  }

  use({ engine, examples }) {
    Object.assign(this, { engine, examples });
  }

  /** How many are right to the letter, or null while they're being translated. */
  countRight(name) {
    const { found, examples, count } = this;
    if (!this.engine || found[name].length < count) return null;
    return found[name].filter((text, i) => text === examples[i][1]).length;
  }

  draw({ screen, isCut }) {
    this.name = isCut ? "cut" : "whole";
    this.panel.hidden = screen !== 5;
    this.isOn = screen === 5;
    this.knife.textContent = isCut ? "Mend the wire" : "Cut the wire";
    if (this.isOn && this.engine) this.run();
    this.paint();
    if (this.told != null) this.tell(this.told); // the other sentence may be there by now, or the other translation
  }

  /** Translate what isn't translated yet: all with the wire first, then without it if it's cut. */
  async run() {
    if (this.running) return;
    this.running = true;
    const next = () => ["whole", this.name].find((name) => this.found[name].length < this.count);
    await waitForFrame();
    for (let name = next(); name && this.isOn; name = next()) {
      const list = this.found[name];
      const mute = name === "cut" ? [this.finder] : [];
      const end = performance.now() + SLICE;
      do list.push(this.engine.translate(this.examples[list.length][0], { mute }).translation);
      while (list.length < this.count && performance.now() < end);
      this.paint();
      await waitForFrame();
    }
    this.running = false;
    if (this.isOn) this.act.counted();
  }

  paint() {
    const { found, name, examples } = this;
    this.dots.forEach((dot, i) => {
      const text = found[name][i] ?? found.whole[i];
      const kind = text == null ? "" : text === examples[i][1] ? "right" : "wrong";
      if (dot.dataset.is === kind) return;
      dot.dataset.is = kind;
      dot.setAttribute("aria-label", `Sentence ${i + 1}${kind && `: ${kind}`}`);
    });
    this.grid.dataset.counted = String(this.countRight(name) ?? "");
  }

  /** Show one sentence: what it is, what was written, and which words would have been right. */
  tell(i) {
    const text = this.found[this.name][i];
    this.told = i;
    this.dots.forEach((dot, place) => (dot.tabIndex = place === i ? 0 : -1));
    if (text == null) return;
    const [source, target] = this.examples[i];
    const [written, right] = [text, target].map((one) => one.split(/(?<=')| /));
    const isWrong = (place) => written[place] !== right[place];
    const verdict = text === target
      ? ["right to the letter"]
      : ["it should have written ", make("b", { lang: "fr" }, right.filter((_, place) => isWrong(place)).join(", "))];
    this.said.replaceChildren(
      make("p", { lang: "en" }, source),
      make("p", { lang: "fr" }, ...written.flatMap((one, place) =>
        [make(isWrong(place) ? "em" : "span", {}, one), one.endsWith("'") ? "" : " "])),
      make("p", { className: "verdict" }, ...verdict));
  }

  step(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = this.dots[this.dots.indexOf(event.target) + move];
    if (!next) return;
    next.focus();
    event.preventDefault();
  }
}
