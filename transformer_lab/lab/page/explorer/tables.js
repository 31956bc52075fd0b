// What unfolds beside the map: what a head's numbers mean, and its strongest links.

import { make, wordAt } from "../elements.js";
import { formatNumber } from "../text.js";

const MOST_LINKS = 12;

/** What the scores say, in words: a title that only a mouse finds is not enough. */
export class Glossary {
  constructor(selection) {
    this.selection = selection;
    this.terms = make("dl", {});
    this.element = make("details", { className: "links" },
      make("summary", {}, "What the numbers of a head mean"), this.terms);
  }

  drawHead() {
    const name = { label: "2.1 under a small map", means: "layer 2, head 1, both counted from 1" };
    this.terms.replaceChildren(...[...this.selection.scores, name].flatMap(({ label, means }) =>
      [make("dt", {}, label), make("dd", {}, means)]));
  }
}

export class LinksTable {
  constructor(selection) {
    this.selection = selection;
    this.element = make("details", { className: "links" },
      make("summary", {}, `The ${MOST_LINKS} strongest links as a table`));
    this.element.addEventListener("toggle", () => this.drawHead());
  }

  drawHead() {
    this.element.querySelector("table")?.remove();
    if (!this.element.open) return;
    const { map, tokens } = this.selection;
    const rows = map.findStrongestLinks(MOST_LINKS).map(({ query, key, weight }) => {
      const cells = [wordAt(tokens.queries, query), wordAt(tokens.keys, key), formatNumber(weight, 3)];
      return make("tr", {}, ...cells.map((content) => make("td", {}, content)));
    });
    const head = ["query", "key", "weight"].map((text) => make("th", { scope: "col" }, text));
    this.element.append(make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  }
}
