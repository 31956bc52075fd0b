// What comes first: the largest of some values, the best of some heads.

/** The places of the largest values, the largest first. */
export const strongest = (values, most) =>
  [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, most);

/** The places of all heads by a score, the best first; those without a value last, equal ones as they stand. */
export function ordered({ values, best }) {
  const rank = (i) => (values[i] == null ? -Infinity : best === "low" ? -values[i] : values[i]);
  return [...values.keys()].sort((a, b) => rank(b) - rank(a) || a - b);
}
