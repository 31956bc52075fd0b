// A matrix on the page: its name, its shape, a word to each row, and its numbers.

import { weightCell } from "../cells.js";
import { make, word } from "../elements.js";

/** Write a number as briefly as possible: "2", "0.58", "−1.4". */
export function formatBrief(value, digits = 2) {
  const text = value.toFixed(digits);
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace(/^-0$/, "0").replace("-", "−");
}

/** Write a vector: "(0, 2, 0, 2)". */
export const formatVector = (vector) => `(${Array.from(vector, (value) => formatBrief(value)).join(",\u00a0")})`;

/** Return a text in the colour of a kind: query, key or value. */
export const colourText = (kind, text = kind) => make("b", { className: `of-${kind}` }, text);

/**
 * One matrix as a table.
 *
 * `values` are rows of numbers, or null for one that is still to come; null among the numbers is what a
 * mask hides. `kind` names the colour: query, key, value, or another class. With `paints` the numbers are
 * weights, from 0 to 1. `lit` says which row or `rows` and which column stand out, and which rows are `found`.
 * `choose(row, column)` is called by a click on a number, and by a row's word, a button, without a column.
 * `tint(row, column)` is a colour of a number's own, and `digits` how many stand behind its point. `ends`
 * has a word for the end of each row.
 */
export function grid({ name, kind = "", values, rows, columns = [], shape, paints, lit: asked = {}, choose, tint, digits = 2, ends }) {
  const [height, width] = shape;
  const lit = values ? asked : { row: asked.row };
  const chosen = new Set(lit.rows ?? [lit.row]);
  const found = new Set(lit.found ?? []);
  const most = Math.max(1e-9, ...(values ?? []).flat().map(Math.abs));
  const cellOf = (row, column) => {
    const value = values?.[row][column];
    if (paints && values) return weightCell(value, paints, true);
    const cell = make("td", {}, value == null ? "" : formatBrief(value, digits));
    if (value == null) cell.className = values ? "unseen" : "to-come";
    else cell.style.setProperty("--size", (Math.abs(value) / most).toFixed(3));
    if (tint) {
      cell.classList.add("tinted");
      cell.style.setProperty("--of", tint(row, column));
    }
    return cell;
  };
  const counted = (length) => Array.from({ length }, (_, i) => i);
  const lines = counted(height).map((row) => {
    const cells = counted(width).map((column) => {
      const cell = cellOf(row, column);
      if (lit.column === column) cell.classList.add("across");
      if (choose) cell.addEventListener("click", () => choose(row, column));
      return cell;
    });
    const button = () => make("button", { type: "button", "data-control": `${name} ${row}`, "aria-pressed": String(chosen.has(row) || found.has(row)) }, word(rows[row]));
    const label = choose ? button() : word(rows[row]);
    if (ends) cells.push(make("td", { className: "end" }, word(ends[row])));
    if (choose) label.addEventListener("click", () => choose(row));
    const stands = chosen.has(row) ? "lit" : found.has(row) ? "found" : "";
    return make("tr", { className: stands }, make("th", { scope: "row" }, label), ...cells);
  });
  const head = make("tr", {}, make("td"), ...columns.map((text, i) => make("th", { scope: "col", className: lit.column === i ? "found" : "" }, word(text))));
  const table = make("table", {}, ...(columns.length ? [make("thead", {}, head)] : []), make("tbody", {}, ...lines));
  const caption = make("figcaption", {}, make("b", {}, name), ` ${height} × ${width}`);
  return make("figure", { className: `grid ${kind}` }, caption, table);
}
