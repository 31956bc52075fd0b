// Two columns of words and lines between them, as thick as their weights.

import { make, OWN_KEYS, svg, writeTokens } from "../elements.js";

const LINE_HEIGHT = 24; // CSS pixels: less is hard to hit with a finger
const LEAST_WEIGHT = 0.01; // that is drawn

/** Return the keys of a row whose weight is large enough to be drawn. */
export function findVisibleKeys(row) {
  const keys = [];
  row.forEach((weight, key) => weight >= LEAST_WEIGHT && keys.push(key));
  return keys;
}

export class LineBoard {
  /** A place is [query, key], one of them null: `look` hears which is pointed at, or null, `pin` which is pressed; `name` tells one board from another. */
  constructor({ look, pin, letGo, name = "" }) {
    Object.assign(this, { look, pin, letGo, name });
    const column = (side) => make("div", { className: `column ${side}`, role: "group" }); // from its words the lines go
    this.columns = { key: column("key"), query: column("query") };
    this.drawing = svg("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
    this.element = make("div", { className: "scroll line-board" }, this.columns.key, this.drawing, this.columns.query);
    this.element.addEventListener("pointerleave", () => look(null));
    this.element.addEventListener("focusout", ({ relatedTarget }) => this.element.contains(relatedTarget) || look(null));
    this.element.addEventListener("keydown", (event) => this.move(event));
  }

  /** Keys at the left, queries at the right, as information flows; `names` says what they are. */
  write({ queries, keys }, names) {
    const height = Math.max(queries.length, keys.length, 1) * LINE_HEIGHT;
    this.drawing.setAttribute("viewBox", `0 0 100 ${height}`);
    this.drawing.style.height = `${height}px`;
    this.columns.key.setAttribute("aria-label", `Keys: ${names.key}`);
    this.columns.query.setAttribute("aria-label", `Queries: ${names.query}`);
    writeTokens(this.columns.key, keys, (place) => this.buildWord("key", place));
    writeTokens(this.columns.query, queries, (place) => this.buildWord("query", place));
  }

  buildWord(side, place) {
    const button = make("button", { type: "button", "data-control": `${this.name}${side} ${place}`, ...OWN_KEYS });
    const here = side === "query" ? [place, null] : [null, place];
    button.addEventListener("pointerenter", () => this.look(here));
    button.addEventListener("focus", () => button.matches(":focus-visible") && this.look(here));
    button.addEventListener("click", () => this.pin(here));
    return button;
  }

  move(event) {
    const [side, place] = event.target.dataset.control.split(" ");
    const next = { ArrowUp: Number(place) - 1, ArrowDown: Number(place) + 1 }[event.key];
    const other = { ArrowLeft: "key", ArrowRight: "query" }[event.key];
    if (event.key === "Escape") this.letGo();
    else if (next != null) this.columns[side].childNodes[next]?.focus();
    else if (other) this.columns[other].querySelector(`[tabindex="0"]`).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Mark a word of either side; of each side one is reached by Tab. */
  light([query, key]) {
    for (const [side, at] of [["query", query], ["key", key]]) {
      this.columns[side].childNodes.forEach((button, place) => {
        button.classList.toggle("lit", place === at);
        button.tabIndex = place === (at ?? 0) ? 0 : -1; // one stop for Tab; arrows go on from there
      });
    }
  }

  /** Write a text beside each key, or none. */
  noteKeys(texts) {
    this.columns.key.childNodes.forEach((button, key) => {
      const text = texts[key] ?? "";
      if (button.dataset.note !== text) button.dataset.note = text; // a style is slow to set
    });
  }

  /** Lines { query, key, thickness }, from 0 to 1; a `className` gives them colour and dashes of their own. */
  draw(links) {
    this.drawing.replaceChildren(...links.map(({ query, key, thickness, className = "" }) => svg("line", {
      x1: 0, y1: (key + 0.5) * LINE_HEIGHT, x2: 100, y2: (query + 0.5) * LINE_HEIGHT, class: className,
      "stroke-width": 0.5 + 5 * thickness, "stroke-opacity": 0.15 + 0.85 * thickness,
    })));
  }
}
