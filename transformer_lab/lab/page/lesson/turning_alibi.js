// ALiBi: a bias that grows with the distance, another for each head.

import { make, word, wordAt } from "../elements.js";
import { softmax } from "../engine/vectors.js";
import { formatBrief, formatVector } from "./grid.js";

/** What ALiBi adds to the scores of head `head` of `heads`, both counted from 0 and 1. */
export const alibiBias = (head, heads, distance) => -(2 ** ((-8 * (head + 1)) / heads)) * Math.abs(distance);

/** ALiBi's bias for each head, drawn as what it multiplies a weight by, and a row of it worked out. */
export function drawAlibi({ words, heads }, paints, chosen, choose) {
  const each = (count) => Array.from({ length: count }, (_, i) => i);
  const made = each(heads).map((head) => {
    const rows = words.map((_, row) => {
      const cells = words.map((__, column) => {
        const cell = make("td");
        cell.style.background = paints[Math.round(255 * Math.exp(alibiBias(head, heads, row - column)))].background;
        return cell;
      });
      const line = make("tr", { className: row === chosen ? "lit" : "" }, ...cells);
      line.prepend(make("th", {}, word(words[row])));
      line.addEventListener("click", () => choose(row));
      return line;
    });
    return make("figure", {}, make("figcaption", {}, make("b", {}, `head ${head + 1}`), ` slope ${formatBrief(-alibiBias(head, heads, 1), 4)}`), make("table", { "aria-hidden": "true" }, make("thead", {}, make("tr", {}, make("td"), ...words.map((text) => make("th", {}, word(text))))), make("tbody", {}, ...rows)));
  });
  const buttons = words.map((text, row) => {
    const button = make("button", { type: "button", "data-control": `row ${row}`, "aria-pressed": String(row === chosen) }, wordAt(words, row));
    button.addEventListener("click", () => choose(row));
    return button;
  });
  const told = [0, heads - 1].map((head) => {
    const bias = words.map((_, column) => alibiBias(head, heads, chosen - column));
    return make("div", {}, `head ${head + 1}, row of `, wordAt(words, chosen), `: added ${formatVector(bias)}; if all scores were equal, the weights would be ${formatVector(softmax(bias))}`);
  });
  return [[make("div", { className: "rows", role: "group", "aria-label": "Row" }, "row of: ", ...buttons), ...made], told];
}
