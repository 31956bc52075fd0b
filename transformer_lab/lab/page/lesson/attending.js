// The movements of attention: a query meets the keys, shares of the values add up, a row goes through a matrix.

import { arrive, carry, MOVE } from "./motion.js";

const BETWEEN = 130; // milliseconds from one key to the next

/** A query's cells go to each key's; the products there, written as `products`, become one score. Returns when all is done. */
export function meetKeys(query, keys, scores, products) {
  const ends = keys.map((key, k) => {
    const met = carry(query, key, { kind: "query", delay: BETWEEN * k });
    const summed = carry(key, [scores[k]], { kind: "key", texts: products[k], delay: met });
    arrive([scores[k]], summed);
    return summed;
  });
  return ends.at(-1);
}

/**
 * Each share goes to its value, whose cells become as small as the share says and go into the output.
 *
 * Of each value, `parts` has the `share` and, as `texts`, the numbers multiplied by it. Returns when all is done.
 */
export function mixValues(shares, values, output, parts) {
  const ends = values.map((value, k) => {
    const met = carry([shares[k]], value, { kind: "share", delay: BETWEEN * k });
    return carry(value, output, { kind: "value", texts: parts[k].texts, delay: met, scale: 0.3 + 0.7 * parts[k].share });
  });
  arrive(output, ends.at(-1) - MOVE / 4);
  return ends.at(-1);
}

/** A row goes to a matrix, and what comes out of the product goes into a row of the result. Returns when it is there. */
export function multiplyRow(row, matrix, result, delay = 0) {
  const met = carry(row, matrix, { delay });
  const end = carry(matrix.slice(-result.length), result, { texts: result.map((cell) => cell.textContent), delay: met });
  arrive(result, end);
  return end;
}
