// Parameters as they are before training: drawn by chance, the same ones from the same seed.

import { Vectors } from "./vectors.js";

/** Return a random number generator with a seed; each call gives a number from 0 to 1 (Marsaglia 2003: xorshift). */
export function makeRandom(seed) {
  let bits = (seed + 1) * 0x9e3779b1;
  const next = () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return (bits >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 20; i++) next(); // like seeds begin alike
  return next;
}

/** Draw a number from the standard normal distribution (Box and Muller 1958). */
const drawGaussian = (draw) => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());

/**
 * Draw new tensors of the same names and shapes, as Python's `initialise` does: projections
 * Xavier-uniform, embeddings N(0, 1/d_model), biases 0, and norms that change nothing.
 */
export function initialiseTensors(tensors, seed) {
  const draw = makeRandom(seed);
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => {
    if (!(tensor instanceof Vectors)) {
      return [name, tensor.map(() => (name.endsWith("norm.weight") ? 1 : 0))];
    }
    const { rows, columns, values } = tensor;
    const isTable = name.includes("embedding") || name.includes("positions");
    const most = Math.sqrt(6 / (rows + columns));
    const one = isTable ? () => drawGaussian(draw) / Math.sqrt(columns) : () => most * (2 * draw() - 1);
    return [name, new Vectors(rows, columns, values.map(one))];
  }));
}
