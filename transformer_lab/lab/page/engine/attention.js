// Scaled dot-product attention with several heads (§3.2).

import { distanceBias, turnPairs } from "./positions.js";
import { dot, linear, softmax, Vectors } from "./vectors.js";

/** Project `x` to keys and values: for each word one vector, in which those of all heads stand side by side. */
export const keysAndValues = (x, { w_k, w_v }) => ({ keys: linear(x, w_k), values: linear(x, w_v) });

/**
 * Attend from each vector of `x` to the words whose `keys` and `values` are given.
 *
 * `start` is the position of the first query among the keys if no word may see a later one, and
 * null if all may be seen. `positions` is "rotary" or "alibi" where the scores know distances.
 * `hooks` get each head's matrices, and say what its weights and its output become.
 */
export function attend(x, { keys, values }, parameters, { heads, start = null, positions, hooks }) {
  const queries = linear(x, parameters.w_q);
  const width = queries.columns / heads;
  const group = heads / (keys.columns / width); // queries that share a head of keys and values
  const valueWidth = parameters.w_o.weight.columns / heads;
  const joined = new Vectors(x.rows, heads * valueWidth);
  const offset = start ?? 0;
  for (let head = 0; head < heads; head++) {
    const shared = Math.floor(head / group);
    const part = (row, size, at) => row.subarray(at * size, (at + 1) * size);
    const placed = (vector, position) => (positions === "rotary" ? turnPairs(vector, position) : vector);
    const headKeys = Array.from({ length: keys.rows }, (_, k) => placed(part(keys.row(k), width, shared), k));
    const headValues = Array.from({ length: values.rows }, (_, k) => part(values.row(k), valueWidth, shared));
    const headQueries = [];
    const scores = [];
    const own = [];
    for (let q = 0; q < x.rows; q++) {
      const query = placed(part(queries.row(q), width, head), offset + q);
      const row = Float32Array.from(headKeys, (key, k) => {
        if (start != null && k > start + q) return -Infinity;
        const bias = positions === "alibi" ? distanceBias(offset + q - k, head, heads) : 0;
        return dot(query, key) / Math.sqrt(width) + bias;
      });
      headQueries.push(query);
      scores.push(row);
      own.push(softmax(row));
    }
    const weights = hooks.weights(head, own);
    const output = weights.map((row, q) => {
      const sum = part(joined.row(q), valueWidth, head);
      row.forEach((weight, k) => {
        for (let i = 0; i < valueWidth; i++) sum[i] += weight * headValues[k][i];
      });
      return sum;
    });
    hooks.output(head, output);
    hooks.see(head, { query: headQueries, key: headKeys, value: headValues, scores, weights, output });
  }
  return linear(joined, parameters.w_o);
}
