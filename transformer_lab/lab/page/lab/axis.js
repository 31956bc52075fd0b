// The tokens beside a large map's rows or above its columns; a press chooses one.

import { make, word } from "../elements.js";
import { makeVisible } from "../text.js";

export class Axis {
  /** `side` is "query" or "key"; `choose` hears the place of the one that is pressed. */
  constructor(side, choose) {
    this.list = make("div", { className: side === "query" ? "queries" : "turned", "aria-hidden": "true" });
    this.element = side === "query" ? this.list : make("div", { className: "keys" }, this.list);
    this.list.addEventListener("click", ({ target }) => {
      const label = target.closest(".label");
      if (label) choose([...this.list.childNodes].indexOf(label));
    });
  }

  /** One label a token; those that are there get another text, which is faster than new ones. */
  write(tokens) {
    const labels = this.list.childNodes;
    while (labels.length > tokens.length) this.list.lastChild.remove();
    tokens.forEach((token, place) => {
      const label = labels[place] ?? this.list.appendChild(make("span", { className: "label" }, word("")));
      const text = label.firstChild.firstChild;
      if (text.data === makeVisible(token)) return;
      text.data = makeVisible(token);
      label.title = token;
    });
  }

  /** Mark the label at this place alone, or with null none. */
  light(place) {
    this.lit?.classList.remove("lit");
    this.lit = place == null ? null : this.list.childNodes[place];
    this.lit?.classList.add("lit");
  }
}
