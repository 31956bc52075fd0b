// The open head as lines, and others of its kind over it, each in a colour and with dashes of its own.

import { action, make, svg } from "../elements.js";
import { findVisibleKeys, LineBoard } from "./line_board.js";
import { findStrongest } from "../ranking.js";
import { formatNumber, makeVisible, shortenText } from "../text.js";
import { isSeen, describeAxes, toCode } from "./names.js";

const LONGEST_TRANSLATION = 90; // characters of another model's translation: an untrained one may repeat itself for long
const MOST_LINKS = 60; // of all heads together, when no word is pinned

/** Return the CSS class of a head that is drawn as lines, "over-1" for the open one; "" if it is not drawn. */
export const getOverlayClass = (heads, head) => {
  const at = heads.findIndex((other) => toCode(other) === toCode(head));
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
      pin: ([query, key]) => this.pin(query, key),
      letGo: () => this.showAll(),
    });
    this.legend = make("p", { className: "legend" });
    this.other = new OtherModel();
    this.element = make("div", { className: "line-view" }, this.legend, make("div", { className: "boards" }, this.board.element, this.other.element));
  }

  draw() {
    const { state } = this;
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const meaning = describeAxes(state.head.kind, state.languages);
    if (this.pointed?.some((place, side) => place >= [rows, keys][side].length)) this.pointed = null;
    this.board.write({ queries: rows, keys }, { query: meaning.rows, key: meaning.columns });
    this.legend.hidden = !state.also.length;
    this.legend.replaceChildren(...state.heads.map((head, i) => make("span", {},
      swatch(getOverlayClass(state.heads, head)), ` ${state.names.say(head)} `,
      i ? action(`take ${toCode(head)}`, "×", `Remove ${state.names.say(head)}`, () => state.overlay(head)) : null)),
      state.isFull ? " You can compare up to four heads." : "");
    this.drawLines();
  }

  pin(query, key) {
    const { state } = this;
    if (query != null) state.choose(query, null);
    else if (isSeen(state.head.kind, state.row, key)) state.choose(state.row, key);
  }

  showAll() {
    this.pointed = null;
    this.state.letGo();
  }

  drawLines() {
    const { state } = this;
    const place = this.pointed ?? (state.showsAll ? [null, null] : [state.row, null]);
    this.board.light(this.pointed ?? (state.showsAll ? [null, null] : [state.row, state.key]));
    this.board.noteKeys(place[0] == null ? [] : Array.from(state.open.weights[place[0]], (weight) => (weight < 0.005 ? "" : formatNumber(weight))));
    this.board.draw(this.findShownLinks(place));
    this.other.draw(state, () => this.findShownLinks(place, state.beside.answer.heads));
  }

  /** The lines of all heads that are drawn: of the place that is looked at, or the strongest. */
  findShownLinks(place = this.state.showsAll ? [null, null] : [this.state.row, null], all = this.state.now.heads) {
    const { also, head } = this.state;
    const heads = [...also, head]; // the open one last, over the others
    return heads.flatMap((one) => this.findLinks(all, one, place, Math.floor(MOST_LINKS / heads.length)));
  }

  /** A head's lines of a place, or its strongest. */
  findLinks(all, head, [query, key], most) {
    const className = getOverlayClass(this.state.heads, head);
    const { weights } = all[head.kind][head.layer][head.head];
    const rows = query == null ? [...weights.keys()] : [query];
    const seen = rows.flatMap((q) => findVisibleKeys(weights[q])
      .filter((k) => (key == null || k === key) && isSeen(head.kind, q, k))
      .map((k) => ({ query: q, key: k, thickness: weights[q][k], className })));
    if (query != null || key != null) return seen;
    return findStrongest(seen.map(({ thickness }) => thickness), most).map((i) => seen[i]);
  }
}

/** The same lines in another model, which stand beside those of this one. They can only be looked at. */
class OtherModel {
  constructor() {
    this.board = new LineBoard({ name: "other " });
    this.board.element.inert = true;
    this.said = make("p", {});
    this.element = make("div", { className: "other", hidden: true }, this.board.element, this.said);
  }

  draw(state, findLinks) {
    const { beside: { name, answer }, comparison: { writesSame }, head: { kind, layer, head }, row } = state;
    this.element.hidden = !name;
    if (!name) return;
    this.board.element.hidden = !answer || !writesSame;
    if (!answer) return void (this.said.textContent = "Fetching the other model …");
    if (!writesSame) return void this.said.replaceChildren("The changed model writes other words now, so its rows can't be compared with those of ", make("b", {}, name), ".");
    const { rows, keys } = state.getMapTokens(kind);
    this.board.write({ queries: rows, keys }, { query: "", key: "" });
    this.board.light([row, null]);
    this.board.draw(findLinks());
    const weights = answer.heads[kind][layer][head].weights[row];
    const [key] = findStrongest(weights, 1);
    this.said.replaceChildren("This is the same head in ", make("b", {}, name), `. Here “${rows[row]}” looks most at “${keys[key]}” (${formatNumber(weights[key])}). On its own, that model would write: `,
      make("bdi", {}, makeVisible(shortenText(answer.translation, LONGEST_TRANSLATION))));
  }
}
