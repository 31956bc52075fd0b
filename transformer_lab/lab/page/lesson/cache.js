// The cache for keys and values: what is computed word by word with it, and what again and again without it.

import { decodeBase64 } from "../bytes.js";
import { makePaints, weightCell } from "../cells.js";
import { make, word } from "../elements.js";
import { dot, softmax } from "../engine/vectors.js";
import { keepFocus } from "../focus.js";
import { formatBrief, colourText, formatVector } from "./grid.js";
import { arrive, carry, slideIn } from "./motion.js";
import { mountEach } from "./mount.js";
import { Steps } from "./steps.js";

const BETWEEN_ROWS = 120; // milliseconds
const KINDS = ["query", "key", "value"];

/** A drawing in each place of this name, from the data of this name. */
export function mountCache(name) {
  mountEach("cache", name, (data) => new CacheFilling(data).element);
}

/** Attend from a new word to itself and the words before it: return { weights, output }. */
export function attendLast(query, keys, values) {
  const weights = softmax(keys.map((key) => dot(query, key) / Math.sqrt(query.length)));
  return { weights, output: values[0].map((_, j) => dot(weights, values.map((value) => value[j]))) };
}

/** Count the rows that are projected in step `step`, from 0, and in all steps up to it: { now, all }. */
export const countComputedRows = (step, cached) => {
  const now = cached ? 1 : step + 1;
  const all = cached ? step + 1 : ((step + 1) * (step + 2)) / 2;
  return { now: 3 * now, all: 3 * all };
};

/** Count the scores that are computed, likewise: of the new word's query alone if cached, else of all queries again. */
export const countComputedScores = (step, cached) => {
  const of = (place) => (cached ? 1 : place + 1) * (place + 1);
  const each = Array.from({ length: step + 1 }, (_, place) => of(place));
  return { now: of(step), all: each.reduce((sum, one) => sum + one, 0) };
};

class CacheFilling {
  /** `data`: words, query, key and value as rows, and the colours of weights. */
  constructor(data) {
    this.data = data;
    this.paints = makePaints(decodeBase64(data.colours));
    this.most = Object.fromEntries(KINDS.map((kind) => [kind, Math.max(1e-9, ...data[kind].flat().map(Math.abs))]));
    this.stage = make("div", { className: "stage" });
    this.sum = make("p", { className: "sum" });
    this.steps = new Steps(data.words, (step) => this.start(step));
    this.element = make("div", {}, this.steps.bar, this.steps.said, this.stage, this.sum);
    this.steps.go(0);
  }

  start(step) {
    this.step = step;
    this.row = step;
    const said = this.draw();
    if (this.stage.isConnected) this.moveRows();
    return said;
  }

  /** Rows that are computed come from their words, one word after the other; what is kept stays where it is. */
  moveRows() {
    for (const table of this.stage.querySelectorAll("table")) {
      const rows = [...table.tBodies[0].rows].slice(0, this.step + 1);
      const computed = rows.map((row) => [...row.querySelectorAll(".part:is(.new, .again)")]);
      let delay = 0;
      for (const cells of computed) {
        slideIn(cells, { x: -24, delay });
        if (cells.length) delay += BETWEEN_ROWS;
      }
      // Then the newest word's query asks all keys, and each answers with a weight.
      const query = computed.at(-1).filter((cell) => cell.classList.contains("query"));
      rows.forEach((row, k) => arrive([row.cells[row.cells.length - 1]], carry(query, [...row.querySelectorAll(".part.key")], { kind: "query", delay: delay + 450 + 90 * k })));
    }
  }

  choose(row) {
    this.row = row;
    keepFocus(this.element, "next", () => this.steps.said.replaceChildren(...this.draw()));
  }

  draw() {
    const { query, key, value } = this.data;
    this.found = attendLast(query[this.step], key.slice(0, this.step + 1), value.slice(0, this.step + 1));
    this.stage.replaceChildren(this.buildPanel(true), this.buildPanel(false));
    this.sum.replaceChildren(...this.writeArithmetic());
    return this.describeStep();
  }

  /** One of the two ways, as a table with a line for each word. */
  buildPanel(cached) {
    const { words } = this.data;
    const width = this.data.key[0].length;
    const lines = words.map((text, row) => {
      const reached = row <= this.step;
      const button = make("button", { type: "button", "data-control": `${cached} ${row}`, "aria-pressed": String(this.row === row), disabled: !reached }, word(text));
      button.addEventListener("click", () => this.choose(row));
      const cells = KINDS.flatMap((kind) => {
        const there = reached && (row === this.step || kind !== "query" || !cached);
        const state = !there ? "empty" : row === this.step ? "new" : cached ? "kept" : "again";
        return [make("td", { className: "gap" }), ...this.data[kind][row].map((number) => this.buildCell(kind, state, number))];
      });
      const weight = reached ? weightCell(this.found.weights[row], this.paints, true) : make("td");
      return make("tr", { className: this.row === row ? "lit" : "" }, make("th", { scope: "row" }, button), ...cells, make("td", { className: "gap" }), weight);
    });
    const over = ["queries", "keys", "values"].flatMap((name, i) => [make("td", { className: "gap" }), make("th", { scope: "colgroup", colSpan: width, className: `of-${KINDS[i]}` }, name)]);
    const head = make("tr", {}, make("td"), ...over, make("td", { className: "gap" }), make("th", { scope: "col" }, "weight"));
    const { now, all } = countComputedRows(this.step, cached);
    const scores = countComputedScores(this.step, cached);
    const bar = make("i", { "aria-hidden": "true" });
    bar.style.width = `${(100 * all) / countComputedRows(words.length - 1, false).all}%`;
    const counts = make("div", { className: `count ${cached ? "with" : "without"}` }, make("div", {}, "rows computed now: ", make("b", {}, now), ", so far: ", make("b", { className: "all" }, all)), bar, make("div", {}, "scores computed now: ", make("b", {}, scores.now), ", so far: ", make("b", { className: "scores" }, scores.all)));
    const name = cached ? "With a cache" : "Without a cache";
    return make("figure", {}, make("figcaption", {}, make("b", {}, name)), make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)), counts);
  }

  buildCell(kind, state, number) {
    const cell = make("td", { className: `part ${kind} ${state}` });
    cell.style.setProperty("--size", (Math.abs(number) / this.most[kind]).toFixed(3));
    return cell;
  }

  /** What this step computes, with a cache and without. */
  describeStep() {
    const { words } = this.data;
    const last = word(words[this.step]);
    const [cached, plain] = [true, false].map((way) => countComputedRows(this.step, way));
    if (this.step === 0) return ["The decoder reads its first word, ", last, ", to write the next one. Each word that it reads adds a row to the queries, the keys and the values. Computing a row takes one product of a vector and a matrix, and we count these products. We also count the scores, one for each pair of a query and a key, even if a mask hides it. So far, both ways do the same work."];
    const before = `${this.step} word${this.step > 1 ? "s" : ""}`;
    const told = ["Now it reads ", last, `. Its query looks at all keys, so the keys and values of the ${before} before are needed again. A cache has kept them, so there are only ${cached.now} new rows. Without a cache, the rows of all words are computed again. That makes ${plain.now} rows, and ${plain.now - cached.now} of them (striped) have the same numbers as before. The old queries ask again, too, because a layer above reads all outputs, but their outputs are the same as before. (Only the weights of the last query are drawn.)`];
    if (this.step === words.length - 1) told.push(` In all, that makes ${cached.all} rows with a cache and ${plain.all} without, and the output for the last word is the same.`);
    return told;
  }

  /** The chosen word's numbers at this step. */
  writeArithmetic() {
    const { words, query, key, value } = this.data;
    const score = dot(query[this.step], key[this.row]) / Math.sqrt(query[0].length);
    return [
      make("div", {}, colourText("query"), " of ", word(words[this.step]), " · ", colourText("key"), " of ", word(words[this.row]), ` ÷ √${query[0].length} = ${formatVector(query[this.step])} · ${formatVector(key[this.row])} ÷ √${query[0].length} = ${formatBrief(score)}, a weight of ${formatBrief(this.found.weights[this.row], 3)} on its `, colourText("value"), ` ${formatVector(value[this.row])}`),
      make("div", {}, "all values mixed, with a cache and without: ", make("span", { className: "output" }, formatVector(this.found.output))),
    ];
  }
}
