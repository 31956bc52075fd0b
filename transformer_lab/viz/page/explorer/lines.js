// The open head as lines from queries to keys, as thick as their weights: of the chosen word, or the strongest.

import { make, svg, word } from "../elements.js";
import { KINDS } from "../record.js";

const MOST_LINES = 60; // that are drawn when no word is chosen
const LINE_HEIGHT = 20; // CSS pixels

export class Lines {
  constructor(selection) {
    this.selection = selection;
    this.element = make("div", { className: "map lines" });
  }

  /** The words, which are other ones for another kind or record only. */
  drawHead() {
    const { record, kind, tokens } = this.selection;
    if (this.record === record && this.kind === kind) return;
    Object.assign(this, { record, kind });
    const { query, key } = KINDS[kind];
    const height = Math.max(tokens.queries.length, tokens.keys.length, 1) * LINE_HEIGHT;
    const size = { viewBox: `0 0 100 ${height}`, height, preserveAspectRatio: "none" };
    this.drawing = svg("svg", { ...size, "aria-hidden": "true" });
    const board = make("div", { className: "scroll" },
      this.column(tokens.queries, "query", `Queries: ${query}`), this.drawing,
      this.column(tokens.keys, "key", `Keys: ${key}`));
    board.addEventListener("pointerleave", () => this.selection.look(null));
    const axes = make("p", { className: "axes" }, `Left: ${query} (query). Right: ${key} (key).`);
    this.element.replaceChildren(axes, board);
  }

  /** The tokens of one side, from which the lines go; the arrows move among them. */
  column(list, side, name) {
    const { selection } = this;
    const box = make("div", { className: `column ${side}`, role: "group", "aria-label": name });
    list.forEach((token, place) => {
      const control = `${side} ${place}`;
      const button = make("button", { type: "button", title: token, "data-control": control }, word(token));
      const here = side === "query" ? [place, null] : [null, place];
      button.addEventListener("pointerenter", () => selection.look(here));
      button.addEventListener("focus", () => button.matches(":focus-visible") && selection.look(here));
      button.addEventListener("click", () => selection.pin(here));
      box.append(button);
    });
    box.addEventListener("keydown", (event) => this.move(event));
    return box;
  }

  move(event) {
    const [side, place] = event.target.dataset.control.split(" ");
    const next = { ArrowUp: Number(place) - 1, ArrowDown: Number(place) + 1 }[event.key];
    const other = { ArrowLeft: "query", ArrowRight: "key" }[event.key];
    if (event.key === "Escape") this.selection.letGo();
    else if (next != null) this.element.querySelector(`[data-control="${side} ${next}"]`)?.focus();
    else if (other) this.element.querySelector(`.${other} button[tabindex="0"]`).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drawPlace() {
    const { chosen } = this.selection;
    const [query, key] = chosen ?? [null, null];
    for (const [side, at] of [["query", query], ["key", key]]) {
      this.element.querySelectorAll(`.${side} button`).forEach((button, place) => {
        button.classList.toggle("lit", place === at);
        button.tabIndex = place === (at ?? 0) ? 0 : -1; // one stop for Tab; arrows go on from there
      });
    }
    this.drawing.replaceChildren(...this.seen(chosen).map((link) => {
      const ends = { x1: 0, y1: (link.query + 0.5) * LINE_HEIGHT, x2: 100, y2: (link.key + 0.5) * LINE_HEIGHT };
      const { thickness } = link;
      return svg("line", { ...ends, "stroke-width": 0.5 + 5 * thickness, "stroke-opacity": 0.15 + 0.85 * thickness });
    }));
  }

  /** The lines of a place, or the strongest: { query, key, thickness }, from 0 to 1. */
  seen(place) {
    const isRoot = this.selection.settings.palette === "root";
    return this.links(...(place ?? [null, null])).filter(({ weight }) => weight >= 0.01)
      .map(({ weight, ...link }) => ({ ...link, thickness: isRoot ? Math.sqrt(weight) : weight }));
  }

  links(query, key) {
    const { map } = this.selection;
    if (query != null) return map.row(query).map((weight, k) => ({ query, key: k, weight }));
    if (key != null) return map.column(key).map((weight, q) => ({ query: q, key, weight }));
    return map.links(MOST_LINES);
  }
}
