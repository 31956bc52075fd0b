// The numbers of an attention: queries, keys and values of its heads, and what follows from them.

import { decodeBase64 } from "../bytes.js";
import { dot, softmax } from "../engine/vectors.js";

/** Unpack an array (heads, words, features) that was written as whole numbers of a unit. */
function unpackHeads({ shape: [heads, words, width], unit, numbers }) {
  const whole = new Int16Array(decodeBase64(numbers).buffer);
  const row = (head, i) => Array.from(whole.subarray((head * words + i) * width, (head * words + i + 1) * width), (number) => number * unit);
  return Array.from({ length: heads }, (_, head) => Array.from({ length: words }, (__, i) => row(head, i)));
}

/** For each head: query, key, value, scores (QKᵀ), scaled scores, weights and output; null for what the mask hides. */
export function computeHeads({ query, key, value, causal }) {
  const [keys, values] = [key, value].map(unpackHeads);
  return unpackHeads(query).map((rows, head) => {
    const seen = (i) => (causal ? keys[head].slice(0, i + 1) : keys[head]);
    const hidden = (i) => Array(keys[head].length - seen(i).length).fill(null);
    const scores = rows.map((q, i) => [...seen(i).map((k) => dot(q, k)), ...hidden(i)]);
    const scaled = scores.map((line) => line.map((score) => score && score / Math.sqrt(rows[0].length)));
    const weights = scaled.map((line, i) => [...softmax(line.slice(0, seen(i).length)), ...hidden(i)]);
    const output = weights.map((line) => values[head][0].map((_, j) => dot(line, values[head].map((v) => v[j]))));
    return { query: rows, key: keys[head], value: values[head], scores, scaled, weights, output };
  });
}
