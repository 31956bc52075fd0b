// What comes first: the largest of some values.

/** Return the indices of the largest `most` values, the largest first. */
export const findStrongest = (values, most) =>
  [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, most);
