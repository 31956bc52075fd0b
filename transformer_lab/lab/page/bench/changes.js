// What can be changed in a model: heads muted, and rows of weights in which a word is given a share.

import { shortName } from "./names.js";

/** No change at all. */
export const NOTHING = { mute: [], points: [] };

/** Muted heads and pointed rows as the engine takes them, see `Hooks`. */
export function askedOf({ mute, points }) {
  const patched = new Map();
  for (const { query, key, share, kind, layer, head } of points) {
    const name = shortName({ kind, layer, head });
    if (!patched.has(name)) patched.set(name, { kind, layer, head, rows: [] });
    (patched.get(name).rows[query] ??= { shares: [] }).shares.push({ key, share });
  }
  return { mute, patch: [...patched.values()] };
}

const ofOneRow = (a, b) => shortName(a) === shortName(b) && a.query === b.query;

/** Points without those of a place's row, or of its key alone if it has one. */
export const without = (points, place) =>
  points.filter((point) => !ofOneRow(point, place) || (place.key != null && point.key !== place.key));

/** Of each word the last point; one that has all of a row leaves none beside it. */
export const settled = (points) => points.reduce((kept, one) => {
  const alone = kept.filter((other) => !ofOneRow(other, one) || (other.share < 1 && one.share < 1));
  return [...without(alone, one), one];
}, []);

/** Points with this share for a place, whose weight is known; what its row gave to other words shrinks or grows alike. */
export function withPoint(points, place, share, weight) {
  const round = (value) => Math.round(100 * value) / 100; // as an address has it
  const alike = weight < 1 ? (1 - share) / (1 - weight) : 0;
  const scaled = points.map((point) => (ofOneRow(point, place) ? { ...point, share: round(point.share * alike) } : point));
  return settled([...scaled, { ...place, share: round(share) }]);
}

/** A pointed row as an address has it: head, query, key, and the share if it is not all. */
export function pointName({ query, key, share, ...head }) {
  return [shortName(head), query, key, ...(share === 1 ? [] : [share.toFixed(2)])].join(":");
}

/** All changes as one text, the same in whatever order they came; "" if there is none. */
export const namesOf = ({ mute, points }) => [...mute.map(shortName), ...points.map(pointName)].sort().join();
