// The open head as lines, and others of its kind over it, each in a colour and with dashes of its own.

import { action, make, svg } from "../elements.js";
import { LineBoard, filterVisibleLinks } from "../line_board.js";
import { findStrongest } from "../ranking.js";
import { isSeen, toLongName, describeAxes, toShortName } from "./names.js";

const MOST_LINKS = 60; // of all heads together, when no word is chosen

/** Return the CSS class of a head that is drawn as lines, "over-1" for the open one; "" if it is not drawn. */
export const getOverlayClass = (heads, head) => {
  const at = heads.findIndex((other) => toShortName(other) === toShortName(head));
  return at < 0 ? "" : `over-${at + 1}`;
};

/** A short line as those of a head are drawn. */
const swatch = (className) => svg("svg", { class: "swatch", width: 30, height: 6, "aria-hidden": "true" },
  svg("line", { x1: 0, x2: 30, y1: 3, y2: 3, "stroke-width": 4, class: className }));

export class LineView {
  constructor(state) {
    this.state = state;
    this.pointed = null;
    this.board = new LineBoard({
      look: (place) => {
        this.pointed = place;
        this.drawLines();
      },
      pin: ([query, key]) => (query == null ? this.drawLines() : state.choose(query, key)),
      letGo: () => state.show("strongest"),
    });
    this.legend = make("p", { className: "legend" });
    this.element = make("div", { className: "line-view" }, this.legend, this.board.element);
  }

  draw() {
    const { state } = this;
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const meaning = describeAxes(state.head.kind, state.languages);
    const said = JSON.stringify([rows, keys, meaning]);
    if (said !== this.said) { // or the word that has the focus would lose it
      this.said = said;
      this.pointed = null;
      this.board.write({ queries: rows, keys }, { query: meaning.rows, key: meaning.columns });
    }
    this.legend.replaceChildren(...state.heads.map((head, i) => make("span", {},
      swatch(getOverlayClass(state.heads, head)), ` ${toShortName(head)} `,
      i ? action(`take ${toShortName(head)}`, "×", `Take ${toLongName(head)} away`, () => state.overlay(head)) : null)),
      state.isFull ? " Four heads are the most." : "");
    this.drawLines();
  }

  drawLines() {
    const { state } = this;
    const place = this.pointed ?? (state.view === "lines" ? [state.row, null] : [null, null]);
    this.board.light(this.pointed ?? (state.view === "lines" ? [state.row, state.key] : [null, null]));
    const each = Math.floor(MOST_LINKS / state.heads.length);
    const heads = [...state.also, state.head]; // the open one last, over the others
    this.board.draw(heads.flatMap((head) => this.findLinks(head, place, each)));
  }

  /** A head's lines of a place, or its strongest. */
  findLinks(head, [query, key], most) {
    const className = getOverlayClass(this.state.heads, head);
    const { weights } = this.state.now.heads[head.kind][head.layer][head.head];
    const all = weights.flatMap((row, q) => Array.from(row, (weight, k) => ({ query: q, key: k, weight, thickness: weight, className })));
    const seen = filterVisibleLinks(all.filter((link) => isSeen(head.kind, link.query, link.key)));
    if (query != null) return seen.filter((link) => link.query === query);
    if (key != null) return seen.filter((link) => link.key === key);
    return findStrongest(seen.map(({ weight }) => weight), most).map((i) => seen[i]);
  }
}
