// The tokens beside a map's rows or above its columns; a mouse points at them and pins them.

import { make, word } from "../elements.js";
import { makeVisible } from "../text.js";

export class Axis {
  /** `side` is "query" or "key". */
  constructor(selection, side) {
    this.element = make("div", { className: side === "query" ? "queries" : "turned", "aria-hidden": "true" });
    const place = (label) => {
      const at = [...this.element.childNodes].indexOf(label);
      return side === "query" ? [at, null] : [null, at];
    };
    this.element.addEventListener("pointerover", ({ target, relatedTarget }) => {
      const label = target.closest(".label");
      if (label && !label.contains(relatedTarget)) selection.look(place(label));
    });
    this.element.addEventListener("click", ({ target }) => {
      const label = target.closest(".label");
      if (label) selection.pin(place(label));
    });
  }

  /** One label a token; those that are there get another text, which is faster than new ones. */
  write(list) {
    const labels = this.element.childNodes;
    while (labels.length > list.length) this.element.lastChild.remove();
    list.forEach((token, place) => {
      const label = labels[place] ?? this.element.appendChild(make("span", { className: "label" }, word("")));
      const text = label.firstChild.firstChild;
      if (text.data === makeVisible(token)) return;
      text.data = makeVisible(token);
      label.title = token;
    });
  }

  /** Mark the label at this place alone, or with null none. */
  light(place) {
    this.lit?.classList.remove("lit");
    this.lit = place == null ? null : this.element.childNodes[place];
    this.lit?.classList.add("lit");
  }
}
