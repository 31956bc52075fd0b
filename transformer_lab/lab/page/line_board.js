// Two columns of words and lines between them, as thick as their weights.

import { make, OWN_KEYS, svg, word } from "./elements.js";

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
    this.element = make("div", { className: "scroll line-board" });
    this.element.addEventListener("pointerleave", () => look(null));
    this.element.addEventListener("focusout", ({ relatedTarget }) => this.element.contains(relatedTarget) || look(null));
    this.element.addEventListener("keydown", (event) => this.move(event));
  }

  /** Keys at the left, queries at the right, as information flows; `names` says what they are. */
  write({ queries, keys }, names) {
    const height = Math.max(queries.length, keys.length, 1) * LINE_HEIGHT;
    const size = { viewBox: `0 0 100 ${height}`, height, preserveAspectRatio: "none" };
    this.drawing = svg("svg", { ...size, "aria-hidden": "true" });
    this.element.replaceChildren(
      this.buildColumn(keys, "key", `Keys: ${names.key}`), this.drawing,
      this.buildColumn(queries, "query", `Queries: ${names.query}`));
  }

  /** The tokens of one side, from which the lines go; the arrows move among them. */
  buildColumn(list, side, name) {
    const box = make("div", { className: `column ${side}`, role: "group", "aria-label": name });
    list.forEach((token, place) => {
      const control = `${this.name}${side} ${place}`;
      const button = make("button", { type: "button", title: token, "data-control": control, ...OWN_KEYS }, word(token));
      const here = side === "query" ? [place, null] : [null, place];
      button.addEventListener("pointerenter", () => this.look(here));
      button.addEventListener("focus", () => button.matches(":focus-visible") && this.look(here));
      button.addEventListener("click", () => this.pin(here));
      box.append(button);
    });
    return box;
  }

  move(event) {
    const [side, place] = event.target.dataset.control.split(" ");
    const next = { ArrowUp: Number(place) - 1, ArrowDown: Number(place) + 1 }[event.key];
    const other = { ArrowLeft: "key", ArrowRight: "query" }[event.key];
    if (event.key === "Escape") this.letGo();
    else if (next != null) this.element.querySelector(`[data-control="${side} ${next}"]`)?.focus();
    else if (other) this.element.querySelector(`.${other} button[tabindex="0"]`).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Mark a word of either side; of each side one is reached by Tab. */
  light([query, key]) {
    for (const [side, at] of [["query", query], ["key", key]]) {
      this.element.querySelectorAll(`.${side} button`).forEach((button, place) => {
        button.classList.toggle("lit", place === at);
        button.tabIndex = place === (at ?? 0) ? 0 : -1; // one stop for Tab; arrows go on from there
      });
    }
  }

  /** Write a text beside each key, or none. */
  noteKeys(texts) {
    this.element.querySelectorAll(".key button").forEach((button, key) => (button.dataset.note = texts[key] ?? ""));
  }

  /** Lines { query, key, thickness }, from 0 to 1; a `className` gives them colour and dashes of their own. */
  draw(links) {
    this.drawing.replaceChildren(...links.map(({ query, key, thickness, className = "" }) => svg("line", {
      x1: 0, y1: (key + 0.5) * LINE_HEIGHT, x2: 100, y2: (query + 0.5) * LINE_HEIGHT, class: className,
      "stroke-width": 0.5 + 5 * thickness, "stroke-opacity": 0.15 + 0.85 * thickness,
    })));
  }
}
