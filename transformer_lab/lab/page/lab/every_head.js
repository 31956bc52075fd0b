// One word through all heads: the chosen row of each head of the open one's kind, below each other.

import { action, make, word } from "../elements.js";
import { weightCell } from "../cells.js";
import { isSeen, toCode, TITLES } from "./names.js";

export class EveryHead {
  /** `showOpen` brings the open head into sight. */
  constructor(state, paints, showOpen) {
    Object.assign(this, { state, paints, showOpen });
    this.title = make("summary", {});
    this.table = make("table", { className: "weights" });
    this.element = make("details", { className: "every-head" }, this.title, make("div", { className: "scroll" }, this.table));
    this.element.addEventListener("toggle", () => this.draw());
  }

  draw() {
    const { state } = this;
    const { head: { kind }, row } = state;
    const { rows, keys } = state.getMapTokens(kind);
    this.title.replaceChildren("The row of “", word(rows[row]), `” in every head: ${TITLES[kind].toLowerCase()}`);
    if (!this.element.open) return;
    this.table.style.setProperty("--columns", keys.length);
    const top = make("tr", {}, make("td", { className: "corner" }), ...keys.map((token) => make("th", { scope: "col" }, word(token))));
    const lines = state.now.heads[kind].flatMap((heads, layer) => heads.map(({ weights }, head) => this.buildLine({ kind, layer, head }, weights[row], keys)));
    this.table.replaceChildren(make("thead", {}, top), make("tbody", {}, ...lines));
  }

  buildLine(head, weights, keys) {
    const { state } = this;
    const code = toCode(head);
    const open = action(`row ${code}`, "", `Open ${state.names.say(head)}`, () => {
      state.openHead(head);
      this.showOpen();
    });
    open.append(...state.names.write(head));
    return make("tr", { className: code === toCode(state.head) ? "lit" : "" },
      make("th", { scope: "row" }, open), ...Array.from(keys, (_, k) => weightCell(isSeen(head.kind, state.row, k) ? weights[k] : null, this.paints, true)));
  }
}
