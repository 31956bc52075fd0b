// How a model is told the order of its words (§3.5): added to the embeddings, or put into the scores.

import { addVectors, Vectors } from "./vectors.js";

/** PE(pos, 2i) = sin(pos / 10000^(2i/width)), PE(pos, 2i+1) = cos of the same. */
function sinusoid(position, width) {
  return Float32Array.from({ length: width }, (_, i) => {
    const angle = position * 10_000 ** (-(i - (i % 2)) / width);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** Add the vectors of the positions from `start` on to x, where the kind adds any; `table` holds learned ones. */
export function addPositions(kind, x, start, table) {
  if (kind !== "sinusoidal" && kind !== "learned") return x;
  const rows = new Vectors(x.rows, x.columns);
  for (let i = 0; i < x.rows; i++) {
    rows.row(i).set(kind === "learned" ? table.row(start + i) : sinusoid(start + i, x.columns));
  }
  return addVectors(x, rows);
}

/** Turn each pair of features of a query or key by an angle that grows with the position (rotary positions). */
export function turnPairs(vector, position) {
  const waves = sinusoid(position, vector.length);
  const result = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i += 2) {
    const [sin, cos] = [waves[i], waves[i + 1]];
    result[i] = vector[i] * cos - vector[i + 1] * sin;
    result[i + 1] = vector[i] * sin + vector[i + 1] * cos;
  }
  return result;
}

/** Compute what ALiBi adds to the score of two words at this distance, in head `head` of `heads`. */
export const distanceBias = (distance, head, heads) => -(2 ** ((-8 * (head + 1)) / heads)) * Math.abs(distance);
