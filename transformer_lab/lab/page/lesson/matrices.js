// Small matrices as lists of rows, and what attention makes of them.

import { dot, softmax } from "../engine/vectors.js";

/** Return the matrix product of `rows` and `weights`. */
export const matmul = (rows, weights) => rows.map((row) => weights[0].map((_, j) => dot(row, weights.map((line) => line[j]))));

/** Join matrices of as many rows side by side. */
export const concatColumns = (matrices) => matrices[0].map((_, i) => matrices.flatMap((matrix) => matrix[i]));

/** Return softmax(Q Kᵀ / √d_k), one row for each query (§3.2.1). */
export const attentionWeights = (query, key) => query.map((q) => softmax(key.map((k) => dot(q, k) / Math.sqrt(k.length))));
