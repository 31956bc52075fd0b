// The last picture of the zoom: how one weight comes about, number by number, and what it passes on.

import { make, word, wordAt } from "../elements.js";
import { formatNumber } from "../text.js";
import { colourText, formatBrief } from "./grid.js";
import { arrive, carry } from "./motion.js";

/** Columns of numbers below each other: each of `rows` has a name, a class, and its numbers. */
function buildColumns(rows) {
  const names = make("div", { className: "names" }, ...rows.map(({ name }) => make("span", {}, ...name)));
  const columns = rows[0].numbers.map((_, j) => make("div", { className: "numbers" }, ...rows.map(({ kind, numbers }) => {
    const cell = make("span", { className: kind }, formatBrief(numbers[j]));
    cell.style.setProperty("--size", (Math.abs(numbers[j]) / Math.max(1e-9, ...numbers.map(Math.abs))).toFixed(3));
    return cell;
  })));
  return make("div", { className: "columns" }, names, make("div", { className: "many" }, ...columns));
}

/** The weight that the query of row `at.row` gives the key of column `at.column`, worked out. */
export function buildWeight({ at: { row, column }, head, words: { queries, keys }, paints, choose }) {
  const [query, key, value] = [head.query[row], head.key[column], head.value[column]];
  const share = head.weights[row][column];
  const of = (kind, token) => [colourText(kind), " of ", word(token)];
  const products = query.map((number, i) => number * key[i]);
  const paint = (element, weight) => Object.assign(element.style, paints[Math.round(255 * weight)]);
  const score = make("b", { className: "score" }, formatNumber(head.scores[row][column]));
  const scaled = make("b", { className: "scaled" }, formatNumber(head.scaled[row][column]));
  const chip = make("b", { className: "share" }, formatNumber(share));
  paint(chip, share);
  const candidates = keys.flatMap((token, k) => {
    if (head.weights[row][k] == null) return [];
    const small = make("b", {}, formatNumber(head.weights[row][k]));
    paint(small, head.weights[row][k]);
    const button = make("button", { type: "button", "data-control": `key ${k}`, "aria-pressed": String(k === column) }, wordAt(keys, k), make("small", {}, formatNumber(head.scaled[row][k])), small);
    button.addEventListener("click", () => choose(k));
    return [button];
  });
  return make("div", { className: "weight" },
    make("h4", {}, "1. The query meets the key"),
    buildColumns([
      { name: of("query", queries[row]), kind: "query", numbers: query },
      { name: of("key", keys[column]), kind: "key", numbers: key },
      { name: ["product"], kind: "product", numbers: products },
    ]),
    make("p", {}, "All products together: ", score, ` ÷ √${query.length} = `, scaled),
    make("h4", {}, "2. The softmax turns the whole row into shares", make("small", {}, " (the scaled score of each word, and below it the share)")),
    make("div", { className: "candidates", role: "group", "aria-label": `Scores and shares of all words that ${queries[row]} sees` }, ...candidates),
    make("h4", {}, "3. That share of the value is passed on"),
    make("p", { className: "taken" }, chip, make("span", {}, "of the ", ...of("value", keys[column]), " goes to ", word(queries[row]), ". What it gets from all words together is this head's output.")),
    buildColumns([
      { name: of("value", keys[column]), kind: "value", numbers: value },
      { name: [`× ${formatNumber(share)}`], kind: "value part", numbers: value.map((number) => number * share) },
      { name: ["from all words"], kind: "value output", numbers: head.output[row] },
    ]));
}

/** The numbers go where they are used: products into the score, the score to its share, the share to the value. */
export function moveWeight(panel) {
  const all = (selector) => [...panel.querySelectorAll(selector)];
  const [score, scaled, chip] = [".score", ".scaled", ".share"].map(all);
  const own = all(".candidates [aria-pressed=true]");
  const summed = carry(all(".product"), score, { kind: "key", scale: 0.15 });
  arrive(score, summed);
  const divided = carry(score, scaled, { delay: summed });
  arrive(scaled, divided);
  const shared = carry(scaled, own, { delay: divided });
  const taken = carry(own[0] ? [own[0].lastChild] : [], chip, { kind: "share", delay: shared, scale: 1 });
  arrive(chip, taken);
  arrive(all(".part, .output"), carry(chip, all(".value:not(.part, .output)").slice(0, 3), { kind: "share", delay: taken, scale: 1 }));
}
