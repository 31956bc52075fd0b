// Screens 3 and 4: what else looks at the pronoun, a guess, the cut, and what became of the pronoun.

import { make } from "../elements.js";
import { formatNumber } from "../text.js";
import { makeBars } from "./bars.js";

const COUNTS = ["No", "One", "Two", "Three", "Four"]; // as many heads as a layer has

/** The bars of each pronoun, before the cut and after it. */
function makeBoth(whole, cut, guess) {
  const guessed = guess ? [" (you guessed ", make("i", { lang: "fr" }, guess), ")"] : [];
  const group = (title, { chances }) => makeBars(title, Object.entries(chances), "fr");
  return make("div", {}, group(["before the cut"], whole), group(["after it", ...guessed], cut));
}

export class Experiment {
  /** `act` has cut(guess), mend() and showOthers(). */
  constructor(scene, captions, act) {
    this.act = act;
    this.guesses = {}; // by the last English word for which they were made
    this.panel = make("div", { className: "panel experiment" });
    this.aside = make("div", { className: "panel others" });
    scene.append(this.panel);
    captions.append(this.aside);
  }

  focus() {
    this.panel.querySelector("button")?.focus();
  }

  draw({ screen, isCut }, { whole, cut, now, withOthers }) {
    this.panel.hidden = screen !== 4;
    this.aside.hidden = screen !== 3 || isCut;
    if (screen === 3) this.drawOthers(whole, withOthers);
    if (screen !== 4) return;
    if (!isCut) this.guesses = {};
    const last = now.source.at(-1);
    const guess = this.guesses[last];
    const button = (text, press, properties = {}) => {
      const element = make("button", { type: "button", ...properties }, text);
      element.addEventListener("click", press);
      return element;
    };
    const drawn = `${isCut} ${last} ${guess} ${Boolean(now.vectors)}`;
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const held = this.panel.contains(document.activeElement);
    this.panel.replaceChildren(...(isCut
      ? [makeBoth(whole, cut, guess), button("Undo", this.act.mend, { className: "undo" })]
      : [make("div", { className: "guesses", role: "group", "aria-label": "What will it write?" },
        ...Object.keys(now.chances).map((pronoun) =>
          button(pronoun, () => this.act.cut((this.guesses[last] = pronoun)), { className: "guess", lang: "fr" })))]));
    if (held) this.focus();
  }

  /** Say that other heads do look at “it”, and what muting them changes. */
  drawOthers(whole, withOthers) {
    const title = withOthers ? ["Hide this"] : ["Does nothing look at ", make("i", {}, "it"), "?"];
    const ask = make("button", { type: "button", className: "ask", "aria-expanded": String(withOthers) }, ...title);
    ask.addEventListener("click", this.act.showOthers);
    const { others, left, written, step } = whole;
    const count = others.length === 1 ? "One other head looks" : `${COUNTS[others.length]} other heads look`;
    const held = this.aside.contains(document.activeElement);
    this.aside.replaceChildren(make("p", {}, ...(withOthers ? [`${count} at `, make("i", {}, "it"), ". But switch them off, and ", make("i", { lang: "fr" }, written[step]),
      " keeps a probability of ", make("b", { "data-left": "others" }, formatNumber(left.others)), ", while without the two heads that look at ",
      make("i", {}, whole.source.at(-1)), " it falls to ", make("b", { "data-left": "readers" }, formatNumber(left.readers)), ". "] : []), ask));
    if (held) ask.focus();
  }
}
