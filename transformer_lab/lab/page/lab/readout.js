// The weights of a place in words: of the chosen cell, and the strongest of its row.

import { word } from "../elements.js";
import { findStrongest } from "../ranking.js";
import { formatNumber } from "../text.js";

const MOST_NAMED = 5; // words

/** A word in quotes; where it stands more than once, with the number of its place. */
const quote = (list, at) => ["“", word(list[at]), list.indexOf(list[at]) === list.lastIndexOf(list[at]) ? "”" : `” (word ${at + 1})`];

/** Return nodes that say a cell's weight, and the strongest of its row; `key` is null where the row alone is meant. */
export function describePlace(state, row, key) {
  const { rows, keys } = state.getMapTokens(state.head.kind);
  const weights = state.open.weights[row];
  const isLeftOut = key != null && state.now.record?.left_out && !weights[key];
  const cell = key == null ? [] : ["The weight of ", ...quote(keys, key), ` is ${isLeftOut ? "0, or left out" : formatNumber(weights[key], 3)}. `];
  const strongest = findStrongest(weights, MOST_NAMED).filter((k) => weights[k] >= 0.005);
  const named = strongest.flatMap((k, i) => [i ? ", " : "", ...quote(keys, k), ` ${formatNumber(weights[k])}`]);
  return [...cell, ...quote(rows, row), " looks most at ", ...(named.length ? named : ["nothing"]), "."];
}
