// What multi-head attention makes of a sentence: cut into slabs, one attention each, and merged again.

import { concatColumns, matmul, attentionWeights } from "./matrices.js";

/**
 * Split a matrix (n, heads · d) into slabs (heads, n, d).
 *
 * With `swap` it is cut to (n, heads, d) and the heads are moved forward. Without, its numbers stay in the
 * order in which they lie in memory, as a reshape to (heads, n, d) alone leaves them.
 */
export function splitHeads(matrix, heads, swap) {
  const [n, d] = [matrix.length, matrix[0].length / heads];
  const flat = matrix.flat();
  const row = (head, i) => (swap ? matrix[i].slice(head * d, (head + 1) * d) : flat.slice((head * n + i) * d, (head * n + i + 1) * d));
  return Array.from({ length: heads }, (_, head) => matrix.map((__, i) => row(head, i)));
}

/** Merge slabs (heads, n, d) into a matrix (n, heads · d), the reverse of `splitHeads`. */
export function mergeHeads(slabs, swap) {
  const [n, width] = [slabs[0].length, slabs.length * slabs[0][0].length];
  const flat = slabs.flat(2);
  return swap ? concatColumns(slabs) : Array.from({ length: n }, (_, i) => flat.slice(i * width, (i + 1) * width));
}

/** Compute multi-head self-attention (§3.2.2), and return each matrix on the way. */
export function multiHeadAttention({ x, query, key, value, output }, swap = true) {
  const [Q, K, V] = [query, key, value].map((matrices) => matmul(x, concatColumns(matrices)));
  const [q, k, v] = [Q, K, V].map((matrix) => splitHeads(matrix, query.length, swap));
  const weights = q.map((rows, head) => attentionWeights(rows, k[head]));
  const mixed = weights.map((rows, head) => matmul(rows, v[head]));
  const merged = mergeHeads(mixed, swap);
  return { Q, K, V, q, k, v, weights, mixed, merged, result: matmul(merged, output) };
}

/** Compute the same with a loop over the heads, as rung 1 of the ladder does. */
export function attendHeadByHead({ x, query, key, value, output }) {
  const of = (head) => matmul(attentionWeights(matmul(x, query[head]), matmul(x, key[head])), matmul(x, value[head]));
  return matmul(concatColumns(query.map((_, head) => of(head))), output);
}
