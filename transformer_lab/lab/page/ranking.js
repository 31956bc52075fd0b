// What comes first among some values.

/** Return the indices of the largest `most` values, the largest first. */
export function findStrongest(values, most) {
  const found = [];
  for (let i = 0; i < values.length; i++) {
    if (found.length === most && !(values[i] > values[found[most - 1]])) continue; // nearly all: that's faster than to sort them
    const at = found.findIndex((other) => values[i] > values[other]);
    found.splice(at < 0 ? found.length : at, 0, i);
    if (found.length > most) found.pop();
  }
  return found;
}

/** Return a value of at least 0 as a share of the largest of some values; where the lowest is best, the other way round. */
export function scaleToBest(value, values, best) {
  const share = value / (Math.max(...values) || 1);
  return best === "low" ? 1 - share : share;
}
