// How a model is told the order of its words (§3.5): added to the embeddings, or put into the scores.

import { addVectors, Vectors } from "./vectors.js";

const computed = new Map(); // the waves of each width and position, which every sentence needs again

/** PE(pos, 2i) = sin(pos / 10000^(2i/width)), PE(pos, 2i+1) = cos of the same. */
export function computeSinusoid(position, width) {
  const name = `${width} ${position}`;
  if (!computed.has(name)) {
    computed.set(name, Float32Array.from({ length: width }, (_, i) => {
      const angle = position * 10_000 ** (-(i - (i % 2)) / width);
      return i % 2 ? Math.cos(angle) : Math.sin(angle);
    }));
  }
  return computed.get(name);
}

/** Add the vectors of the positions from `start` on to x, where the kind adds any; `table` holds learned ones. */
export function addPositions(kind, x, start, table) {
  if (kind !== "sinusoidal" && kind !== "learned") return x;
  const rows = new Vectors(x.rows, x.columns);
  for (let i = 0; i < x.rows; i++) {
    rows.row(i).set(kind === "learned" ? table.row(start + i) : computeSinusoid(start + i, x.columns));
  }
  return addVectors(x, rows);
}

/** Turn each pair of features of a query or key by an angle that grows with the position (rotary positions). */
function turnPairs(vector, position) {
  const waves = computeSinusoid(position, vector.length);
  const result = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i += 2) {
    const [sin, cos] = [waves[i], waves[i + 1]];
    result[i] = vector[i] * cos - vector[i + 1] * sin;
    result[i + 1] = vector[i] * sin + vector[i + 1] * cos;
  }
  return result;
}

/** Turn the part of each head in each vector, by the vectors' positions from `start` on. */
export function turnHeads(x, heads, start) {
  const y = new Vectors(x.rows, x.columns);
  const width = x.columns / heads;
  for (let i = 0; i < x.rows; i++) {
    for (let head = 0; head < heads; head++) {
      const part = x.row(i).subarray(head * width, (head + 1) * width);
      y.row(i).set(turnPairs(part, start + i), head * width);
    }
  }
  return y;
}

/** Compute what ALiBi adds to the score of two words at this distance, in head `head` of `heads`. */
export const distanceBias = (distance, head, heads) => -(2 ** ((-8 * (head + 1)) / heads)) * Math.abs(distance);
