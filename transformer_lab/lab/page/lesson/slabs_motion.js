// What moves between the matrices of the heads: blocks fold out into slabs and back, and each slab attends.

import { meetKeys, mixValues, multiplyRow } from "./attending.js";
import { formatBrief } from "./grid.js";
import { arrive, carry, slideIn } from "./motion.js";

const GAP = 5; // pixels between two heads' columns, as in slabs.css
const APART = 45; // from a head's matrix to the next one's, before they stand side by side
const BETWEEN_HEADS = 200; // milliseconds

/** Move what the step `stage` of these slabs moves. */
export function moveSlabs(slabs, stage) {
  const { data, at, width, head: chosen, word } = slabs;
  const tables = [...slabs.stage.querySelectorAll(".grid tbody")].map((body) => [...body.rows].map((row) => [...row.querySelectorAll("td")]));
  const heads = data.query.map((_, head) => head);
  const block = (row, which, wide = width) => row.slice(which * wide, (which + 1) * wide);
  const brief = (numbers) => numbers.map((number) => formatBrief(number, 1));
  /** What goes between the block of a word's columns and the row of a slab; `pick` says which way. */
  const fold = (whole, slabsOf, kind, pick) => heads.forEach((head) => slabsOf[head].forEach((cells, row) => {
    const origin = slabs.findOrigin(head, row);
    const [from, to] = pick(block(whole[origin.word], origin.block, cells.length), cells);
    arrive(to, carry(from, to, { kind, delay: BETWEEN_HEADS * head }));
  }));
  /** The row of a slab in which the chosen word is, or the slab's first. */
  const rowOf = (head) => (head === chosen ? slabs.row : slabs.findRows(head, word)[0] ?? 0);
  const moves = {
    loop: ([x, ...made]) => heads.reduce((end, head) => multiplyRow(x[word], made[2 * head].flat(), made[2 * head + 1][word], end), 0),
    product: ([x, W, Q]) => {
      heads.forEach((head) => slideIn(W.flatMap((row) => block(row, head)), { x: APART * head, seen: true }));
      multiplyRow(x[word], W.flat(), Q[word]);
    },
    cut: (cut) => cut.forEach((whole) => heads.forEach((head) => slideIn(whole.flatMap((row) => block(row, head)), { x: -GAP * head, seen: true }))),
    slabs: ([whole, ...made]) => fold(whole, made, "query", (wide, cells) => [wide, cells]),
    weights: () => heads.forEach((head) => {
      const [query, key, weights] = tables.slice(3 * head);
      const row = rowOf(head);
      meetKeys(query[row], key, weights[row], at.k[head].map((k) => brief(k.map((number, i) => number * at.q[head][row][i]))));
    }),
    mixed: () => heads.forEach((head) => {
      const [weights, value, output] = tables.slice(3 * head);
      const row = rowOf(head);
      const shares = at.weights[head][row];
      mixValues(weights[row], value, output[row], at.v[head].map((v, k) => ({ share: shares[k], texts: brief(v.map((number) => number * shares[k])) })));
    }),
    merged: (all) => fold(all.at(-1), all, "value", (wide, cells) => [cells, wide]),
    result: ([merged, W, output]) => multiplyRow(merged[word], W.flat(), output[word]),
  };
  moves[stage]?.(tables);
}
