// Screen 6: the picture from the textbooks, and next to it what the heads of this model do.

import { make, svg } from "../elements.js";
import { formatNumber } from "../text.js";

const LEAST_DRAWN = 0.01;

/** The sentence twice, with lines from some of its words; `rows` are { query, weights, kind }. */
function makePicture(title, source, rows, marked, note) {
  const height = source.length;
  const lines = rows.flatMap(({ query, weights, kind }) => weights.flatMap((weight, key) => (weight < LEAST_DRAWN ? [] : [
    svg("path", { d: `M0 ${query + 0.5}C50 ${query + 0.5} 50 ${key + 0.5} 100 ${key + 0.5}`, class: kind, "stroke-width": Math.max(0.7, 8 * weight), opacity: 0.3 + 0.7 * weight }),
  ])));
  const column = (isMarked) => make("ol", { "aria-hidden": "true" }, ...source.map((text, place) => make("li", { className: isMarked(place) }, text)));
  const said = rows.map(({ query, weights }) =>
    `from “${source[query]}” to “${source[marked]}” ${formatNumber(weights[marked])}`).join(", and ");
  return make("figure", {}, make("figcaption", {}, title),
    make("div", { className: "pair", role: "img", "aria-label": `${title}: the line ${said}.` },
      column((place) => (rows.some(({ query }) => query === place) ? "decider" : "")),
      svg("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines),
      column((place) => (place === marked ? "key" : ""))),
    make("p", { className: "numbers", "aria-hidden": "true" }, ...note));
}

/** What two lines of the measured picture say: how much a word looks at the noun. */
const tellWeight = (from, to, weight) => [make("i", {}, from), " → ", make("i", {}, to), " ", make("b", {}, formatNumber(weight))];

export class Famous {
  constructor(scene, places, flip) {
    this.places = places;
    this.pictures = make("div", { className: "pictures" });
    this.flipper = make("button", { type: "button", className: "flip-again" });
    this.flipper.addEventListener("click", flip);
    this.panel = make("div", { className: "panel famous" }, this.pictures, this.flipper);
    scene.append(this.panel);
  }

  draw({ screen }, answer, other) {
    this.panel.hidden = screen !== 6;
    if (screen !== 6) return;
    const { source, noun, it, decider } = answer;
    const { pronoun: query, decider: last } = this.places;
    const thick = source.map((_, place) => Number(place === noun));
    this.pictures.replaceChildren(
      makePicture("The famous picture", source, [{ query, weights: thick, kind: "plain" }], noun, ["as textbooks draw it"]),
      makePicture("What was measured", source, [
        { query, weights: it, kind: "plain" }, { query: last, weights: decider, kind: "lit" }], noun,
      [...tellWeight(source[query], source[noun], it[noun]), " · ", ...tellWeight(source[last], source[noun], decider[noun]), ", the largest weight in any head"]));
    this.flipper.replaceChildren(make("b", {}, source[last]), ` ⇄ ${other}`);
    this.flipper.setAttribute("aria-label", `${source[last]}: press to write ${other} instead`);
  }
}
