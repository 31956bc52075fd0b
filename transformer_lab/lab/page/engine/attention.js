// Scaled dot-product attention with several heads (§3.2).

import { distanceBias, turnHeads } from "./positions.js";
import { linear, softmax, Vectors } from "./vectors.js";

/** Project `x` to keys and values: for each word one vector, in which those of all heads stand side by side. */
export const keysAndValues = (x, { w_k, w_v }) => ({ keys: linear(x, w_k), values: linear(x, w_v) });

/** The part of each vector that belongs to a head: views, one for each word. */
const headParts = (x, width, head) =>
  Array.from({ length: x.rows }, (_, i) => x.row(i).subarray(head * width, (head + 1) * width));

/**
 * Attend from each vector of `x` to the words whose `keys` and `values` are given.
 *
 * `start` is the position of the first query among the keys if no word may see a later one, and
 * null if all may be seen. `positions` is "rotary" or "alibi" where the scores know distances.
 * `hooks` get each head's matrices, and say what its weights and its output become.
 */
export function attend(x, { keys, values }, parameters, { heads, start = null, positions, hooks }) {
  const projected = linear(x, parameters.w_q);
  const width = projected.columns / heads;
  const keyHeads = keys.columns / width;
  const group = heads / keyHeads; // queries that share a head of keys and values
  const valueWidth = parameters.w_o.weight.columns / heads;
  const joined = new Vectors(x.rows, heads * valueWidth);
  const offset = start ?? 0;
  const rotary = positions === "rotary";
  const queries = rotary ? turnHeads(projected, heads, offset) : projected;
  const placed = rotary ? turnHeads(keys, keyHeads, 0) : keys;
  const root = Math.sqrt(width);
  for (let head = 0; head < heads; head++) {
    const shared = Math.floor(head / group);
    const scores = [];
    for (let q = 0; q < x.rows; q++) {
      const row = new Float32Array(keys.rows).fill(-Infinity);
      const seen = start == null ? keys.rows : Math.min(keys.rows, start + q + 1);
      const from = q * queries.columns + head * width;
      for (let k = 0; k < seen; k++) {
        const to = k * placed.columns + shared * width;
        let sum = 0;
        for (let i = 0; i < width; i++) sum += queries.values[from + i] * placed.values[to + i];
        row[k] = sum / root + (positions === "alibi" ? distanceBias(offset + q - k, head, heads) : 0);
      }
      scores.push(row);
    }
    const weights = hooks.weights(head, scores.map(softmax));
    const output = headParts(joined, valueWidth, head);
    weights.forEach((row, q) => {
      const sum = output[q];
      for (let k = 0; k < keys.rows; k++) {
        const at = k * values.columns + shared * valueWidth;
        for (let i = 0; i < valueWidth; i++) sum[i] += row[k] * values.values[at + i];
      }
    });
    hooks.output(head, output);
    hooks.see(head, () => ({
      // Most heads are never asked for these.
      get query() {
        return headParts(queries, width, head);
      },
      get key() {
        return headParts(placed, width, shared);
      },
      get value() {
        return headParts(values, valueWidth, shared);
      },
      scores,
      weights,
      output,
    }));
  }
  return linear(joined, parameters.w_o);
}
