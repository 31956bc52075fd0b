// How the numbers of the chosen row come about: q · k for each word, ÷ √d_k, softmax, and the weighted sum of the values.

import { action, make, OWN_KEYS, word } from "../elements.js";
import { dot, softmax } from "../engine/vectors.js";
import { findStrongest } from "../ranking.js";
import { formatNumber } from "../text.js";

/** A vector as a strip, one cell a number: blue below 0, orange above, as in all of the course. */
function strip(label, className, vector, most) {
  const cells = Array.from(vector, (value, i) => {
    const cell = make("i", { title: `${label}, number ${i + 1}: ${formatNumber(value, 3)}` });
    cell.style.setProperty("--size", Math.min(1, Math.abs(value) / most).toFixed(3));
    cell.className = value < 0 ? "below" : "above";
    return cell;
  });
  const says = `${label}: ${vector.length} numbers. The left and right arrow keys go through them.`;
  return make("div", { className: `strip ${className}` }, make("span", {}, label), make("div", { tabIndex: 0, role: "group", "aria-label": says, ...OWN_KEYS }, ...cells));
}

const maxAbs = (...vectors) => Math.max(1e-9, ...vectors.flatMap((vector) => Array.from(vector, Math.abs)));

const POINT_AT = "Point at a number in a strip, touch it, or go to it with the arrows, and its factors light up. Blue is below 0, orange above.";

export class Numbers {
  constructor(state) {
    this.state = state;
    this.element = make("div", { className: "numbers" });
    this.said = { product: make("p", { className: "factors", role: "status" }), value: make("p", { className: "factors", role: "status" }) };
    this.element.addEventListener("pointerover", ({ target }) => this.light(target.closest(".strip i")));
    this.element.addEventListener("pointerleave", () => this.light(null));
    this.element.addEventListener("keydown", (event) => this.move(event));
  }

  /** The next number of a strip that has the focus, or the one before. */
  move(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const cells = [...(event.target.closest(".strip div")?.children ?? [])];
    if (!by || !cells.length) return;
    const at = cells.findIndex((cell) => cell.classList.contains("lit"));
    this.light(cells[Math.max(0, Math.min(cells.length - 1, at + by))]);
    event.preventDefault();
    event.stopPropagation();
  }

  /** A number of a strip with those that it is made of, or goes into, and what they give. */
  light(cell) {
    this.element.querySelectorAll("i.lit").forEach((lit) => lit.classList.remove("lit"));
    this.said.product.textContent = POINT_AT;
    this.said.value.textContent = "";
    if (!cell) return;
    const i = [...cell.parentNode.children].indexOf(cell);
    const isValue = cell.closest(".strip").classList.contains("value");
    this.element.querySelectorAll(isValue ? ".strip.value" : ".strip:not(.value)")
      .forEach((one) => one.querySelectorAll("i")[i].classList.add("lit"));
    if (isValue) this.said.value.textContent = this.sums(i);
    else this.said.product.textContent = this.products(i);
  }

  draw() {
    const { state } = this;
    const { row } = state;
    const { query: queries, key: keys, value: values, scores, weights, output } = state.open;
    const { rows, keys: names } = state.getMapTokens(state.head.kind);
    const width = queries[row].length;
    const seen = state.countSeen(row);
    const key = state.key ?? weights[row].indexOf(Math.max(...weights[row]));
    const query = queries[row];
    const product = query.map((value, i) => value * keys[key][i]);
    const own = softmax(scores[row]);
    const length = Math.hypot(...output[row]);
    const isSet = state.findPoints(state.head, row).length > 0;
    const columns = ["", "q · k", `÷ √${width}`, "softmax", ...(isSet ? ["set to"] : []), ""];
    const head = make("tr", {}, ...columns.map((text) => make(text ? "th" : "td", {}, text)));
    const lines = Array.from({ length: seen }, (_, k) => {
      const bar = make("i", { className: "bar" });
      bar.style.width = `${100 * weights[row][k]}%`;
      const numbers = [formatNumber(dot(query, keys[k]), 1), formatNumber(scores[row][k]), formatNumber(own[k], 3), ...(isSet ? [formatNumber(weights[row][k], 3)] : [])];
      const cells = numbers.map((text) => make("td", {}, text));
      const choose = action(`number ${k}`, word(names[k]), `Work out the weight of ${names[k]}`, () => state.choose(row, k));
      return make("tr", { className: k === key ? "lit" : "" }, make("th", { scope: "row" }, choose), ...cells, make("td", { className: "track" }, bar));
    });
    const term = (a, b) => `${formatNumber(a)} × ${formatNumber(b)}`;
    this.products = (i) => `Number ${i + 1} of ${width}: q × k = ${term(query[i], keys[key][i])} = ${formatNumber(product[i])}.`;
    this.sums = (i) => {
      const parts = findStrongest(weights[row].slice(0, seen), 3).map((k) => term(weights[row][k], values[k][i]));
      return `Number ${i + 1} of ${values[key].length}: Σ weight × v = ${parts.join(" + ")}${seen > 3 ? " + …" : ""} = ${formatNumber(weights[row].reduce((sum, weight, k) => sum + weight * values[k][i], 0))}${length === 0 ? ", thrown away" : ""}.`;
    };
    const shape = (name, vectors) => `${name} ${vectors.length} × ${vectors[0].length}`;
    const shapes = [shape("Q", queries), shape("K", keys), shape("scores", scores), shape("V", values), shape("output", output)];
    const most = maxAbs(query, keys[key]);
    this.light(null);
    this.element.replaceChildren(
      make("h3", {}, "How “", word(rows[row]), seen < names.length ? "” gets its weights; it sees no later word" : "” gets its weights"),
      make("p", { className: "note shapes" }, `The sizes of this head's matrices are, in rows × columns: ${shapes.join(" · ")}. Below you see one row of each.`),
      // A step of cross-attention is named by the word that it writes; it has read only those before.
      strip(state.head.kind === "cross" ? `q, to write ${rows[row]}` : `q of ${rows[row]}`, "query", query, most),
      strip(`k of ${names[key]}`, "key", keys[key], most),
      strip("their products", "product", product, maxAbs(product)),
      this.said.product,
      make("p", {}, `The ${width} products sum to q · k = ${formatNumber(dot(query, keys[key]), 2)}. Divided by √${width} = ${formatNumber(Math.sqrt(width))}, that's ${formatNumber(dot(query, keys[key]) / Math.sqrt(width), 2)}, and the softmax over the row turns it into a weight of ${formatNumber(own[key], 3)}.${isSet ? ` You have set it to ${formatNumber(weights[row][key], 3)}.` : ""}`),
      make("div", { className: "scroll" }, make("table", { className: "scores" }, make("thead", {}, head), make("tbody", {}, ...lines))),
      strip(`v of ${names[key]}`, "value", values[key], maxAbs(values[key], output[row])),
      strip("Σ weight · v", "value", output[row], maxAbs(values[key], output[row])),
      this.said.value,
      make("p", {}, length === 0 ? "The head is muted, so its output is 0 and W_O gets nothing from it." : `The last strip is the head's output for this word. Its length is ${formatNumber(length)}, and W_O gets it next.`));
  }
}
