// The tokens beside a large map's rows or above its columns; a press chooses one.

import { make, writeTokens } from "../elements.js";

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

  /** One label a token. */
  write(tokens) {
    writeTokens(this.list, tokens, () => make("span", { className: "label" }));
  }

  /** Mark the label at this place alone, or with null none. */
  light(place) {
    this.lit?.classList.remove("lit");
    this.lit = place == null ? null : this.list.childNodes[place];
    this.lit?.classList.add("lit");
  }
}
