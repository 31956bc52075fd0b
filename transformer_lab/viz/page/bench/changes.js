// What can be changed in a model: heads muted, and rows of weights in which a word is given a share.

import { shortName } from "./names.js";

/** No change at all. */
export const NOTHING = { mute: [], points: [] };

/** Muted heads and pointed rows as the engine takes them, see `Watch`. */
export function askedOf({ mute, points }) {
  const patched = new Map();
  for (const { query, key, share, kind, layer, head } of points) {
    const name = shortName({ kind, layer, head });
    if (!patched.has(name)) patched.set(name, { kind, layer, head, rows: [] });
    patched.get(name).rows[query] = { key, share };
  }
  return { mute, patch: [...patched.values()] };
}

/** A pointed row as an address has it: head, query, key, and the share if it is not all. */
export function pointName({ query, key, share, ...head }) {
  return [shortName(head), query, key, ...(share === 1 ? [] : [share.toFixed(2)])].join(":");
}

/** All changes as one text, the same in whatever order they came; "" if there is none. */
export const namesOf = ({ mute, points }) => [...mute.map(shortName), ...points.map(pointName)].sort().join();
