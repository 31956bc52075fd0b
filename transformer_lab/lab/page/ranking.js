// What comes first among some values.

/** Return the indices of the largest `most` values, the largest first. */
export const findStrongest = (values, most) =>
  [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, most);

/** Return a value of at least 0 as a share of the largest of some values; where the lowest is best, the other way round. */
export function scaleToBest(value, values, best) {
  const share = value / (Math.max(...values) || 1);
  return best === "low" ? 1 - share : share;
}
