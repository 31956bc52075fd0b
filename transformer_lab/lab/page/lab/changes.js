// What can be changed in a model: heads muted, and rows of weights in which a word is given a share.

import { toCode } from "./names.js";

/** No change at all. */
export const NOTHING = { mute: [], points: [] };

/** Return muted heads and pointed rows as the options { mute, patch } of the engine, see `Hooks`. */
export function makeHookOptions({ mute, points }) {
  const patched = new Map();
  for (const { query, key, share, kind, layer, head } of points) {
    const name = toCode({ kind, layer, head });
    if (!patched.has(name)) patched.set(name, { kind, layer, head, rows: [] });
    (patched.get(name).rows[query] ??= { shares: [] }).shares.push({ key, share });
  }
  return { mute, patch: [...patched.values()] };
}

const isSameRow = (a, b) => toCode(a) === toCode(b) && a.query === b.query;

/** Return the points without those of a place's row; if the place has a key, without those of this key alone. */
export const removePoints = (points, place) =>
  points.filter((point) => !isSameRow(point, place) || (place.key != null && point.key !== place.key));

/** Return the points without those that a later one overrides: of the same word, or of a row that has given all to one word. */
export const dropOverriddenPoints = (points) => points.reduce((kept, one) => {
  const alone = kept.filter((other) => !isSameRow(other, one) || (other.share < 1 && one.share < 1));
  return [...removePoints(alone, one), one];
}, []);

/** Return the points with one more: a share for a place that had `weight`. What its row gave to other words is scaled to fit. */
export function addPoint(points, place, share, weight) {
  const round = (value) => Math.round(100 * value) / 100; // as an address has it
  const alike = weight < 1 ? (1 - share) / (1 - weight) : 0;
  const scaled = points.map((point) => (isSameRow(point, place) ? { ...point, share: round(point.share * alike) } : point));
  return dropOverriddenPoints([...scaled, { ...place, share: round(share) }]);
}

/** Write a point as an address has it: head, query, key, and the share if it is not all. */
export function formatPoint({ query, key, share, ...head }) {
  return [toCode(head), query, key, ...(share === 1 ? [] : [share.toFixed(2)])].join(":");
}

/** Write all changes as one text, sorted; "" if there are none. */
export const formatChanges = ({ mute, points }) => [...mute.map(toCode), ...points.map(formatPoint)].sort().join();
