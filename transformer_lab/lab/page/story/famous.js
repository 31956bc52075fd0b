// Screen 6: the picture from the textbooks, and next to it what the heads of this model do.

import { make, svg } from "../elements.js";
import { makeBars } from "./bars.js";

/** The sentence twice, those that are looked at on the left and those that look on the right, and one line between them. */
function makePicture(source, query, key) {
  const column = (marked, kind) =>
    make("ol", { "aria-hidden": "true" }, ...source.map((text, place) => make("li", { className: place === marked ? kind : "" }, text)));
  const [from, to] = [key + 0.5, query + 0.5];
  return make("div", { className: "pair", role: "img", "aria-label": `A thick line leads from “${source[query]}” to “${source[key]}”.` },
    column(key, "key"),
    svg("svg", { viewBox: `0 0 100 ${source.length}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("path", { d: `M0 ${from}C50 ${from} 50 ${to} 100 ${to}`, "stroke-width": 8 })),
    column(query, "decider"));
}

export class Famous {
  /** `heads` is how many the encoder has; `flip` writes the other word. */
  constructor(scene, { places, heads, flip }) {
    Object.assign(this, { places, heads });
    this.pictures = make("div", { className: "pictures" });
    this.flipper = make("button", { type: "button", className: "flip-again" });
    this.flipper.addEventListener("click", flip);
    this.panel = make("div", { className: "panel famous" }, this.pictures, this.flipper);
    scene.append(this.panel);
  }

  draw({ screen }, { source, noun, most }, other) {
    this.panel.hidden = screen !== 6;
    if (screen !== 6) return;
    const { pronoun, decider, nouns } = this.places;
    const measured = [["pronoun", pronoun], ["decider", decider]].map(([name, query]) =>
      makeBars([make("i", {}, source[query]), " looks at"], most[name].map((weight, i) => [source[nouns[i]], weight]), "en"));
    this.pictures.replaceChildren(
      make("figure", {}, make("figcaption", {}, "as textbooks draw it"), makePicture(source, pronoun, noun)),
      make("figure", { className: "measured" }, make("figcaption", {}, "as measured here"), ...measured,
        make("p", { className: "note" }, `each bar is from the head that looks there most, out of the encoder’s ${this.heads}`)));
    this.flipper.replaceChildren(make("b", {}, source[decider]), ` ⇄ ${other}`);
    this.flipper.setAttribute("aria-label", `${source[decider]}: press to write ${other} instead`);
  }
}
