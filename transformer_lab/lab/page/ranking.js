// What comes first: the largest of some values, the best of some heads.

/** Return the indices of the largest `most` values, the largest first. */
export const findStrongest = (values, most) =>
  [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, most);

/** Return the indices of all heads sorted by a score, the best first; heads without a value come last. */
export function orderHeads({ values, best }) {
  const rank = (i) => (values[i] == null ? -Infinity : best === "low" ? -values[i] : values[i]);
  return [...values.keys()].sort((a, b) => rank(b) - rank(a) || a - b);
}
