// Small matrices as lists of rows, and what attention makes of them.

import { dot, softmax } from "../engine/vectors.js";

/** X W: each row of X times W. */
export const times = (rows, weights) => rows.map((row) => weights[0].map((_, j) => dot(row, weights.map((line) => line[j]))));

/** Matrices with the same rows, side by side. */
export const beside = (matrices) => matrices[0].map((_, i) => matrices.flatMap((matrix) => matrix[i]));

/** softmax(Q Kᵀ / √d_k), one row for each query (§3.2.1). */
export const weightsOf = (query, key) => query.map((q) => softmax(key.map((k) => dot(q, k) / Math.sqrt(k.length))));
