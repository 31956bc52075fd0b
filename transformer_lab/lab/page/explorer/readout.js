// What the chosen row, column or cell says, in words.

import { make, wordAt } from "../elements.js";
import { findStrongest } from "../ranking.js";
import { formatNumber } from "../text.js";

const MOST_WORDS = 5;

export class Readout {
  constructor(selection) {
    this.selection = selection;
    this.element = make("p", { className: "readout", role: "status", "aria-live": "polite" });
  }

  drawPlace() {
    const { chosen, pinned } = this.selection;
    if (!chosen) {
      this.element.replaceChildren("Point at a word or a cell; click or press Enter to pin it.");
      return;
    }
    const lines = this.describePlace(chosen);
    if (String(chosen) === String(pinned)) lines.push("Pinned.");
    this.element.replaceChildren(...lines.flatMap((line) => [line, make("br")]).slice(0, -1));
  }

  describePlace([query, key]) {
    const { map, record, tokens } = this.selection;
    const { queries, keys } = tokens;
    const lines = [];
    if (query != null && key != null) {
      const isLeftOut = record.left_out && !map.at(query, key);
      const weight = make("b", {}, isLeftOut ? "0, or left out" : formatNumber(map.at(query, key), 3));
      lines.push(make("span", {}, wordAt(queries, query), " → ", wordAt(keys, key), ": ", weight));
    }
    if (query != null) {
      lines.push(make("span", {}, wordAt(queries, query), " looks at: ", ...listStrongest(map.row(query), keys)));
    }
    if (key != null) {
      lines.push(make("span", {}, wordAt(keys, key), " is looked at by: ", ...listStrongest(map.column(key), queries)));
    }
    return lines;
  }
}

/** The words of the largest weights, each with its weight. */
const listStrongest = (weights, names) => findStrongest(weights, MOST_WORDS).filter((i) => weights[i] >= 0.005)
  .flatMap((i) => [make("span", { className: "link" }, wordAt(names, i), ` ${formatNumber(weights[i])}`), " "]);
