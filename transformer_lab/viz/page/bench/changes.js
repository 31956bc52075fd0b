// What can be changed in a model: heads muted, and rows of weights in which a word is given a share.

import { shortName } from "./names.js";

/** No change at all. */
export const NOTHING = { mute: [], points: [] };

/** A row whose word `key` has this share; the others divide the rest as they did, or evenly if they had none. */
function rowWith(own, key, share, seen) {
  const rest = own.reduce((sum, weight, k) => (k === key ? sum : sum + weight), 0);
  return Array.from(own, (weight, k) => {
    if (k === key) return share;
    if (rest > 0) return (weight * (1 - share)) / rest;
    return k < seen ? (1 - share) / (seen - 1) : 0;
  });
}

/** Muted heads and pointed rows as the engine takes them; `heads` are those of the model without any change. */
export function askedOf({ mute, points }, heads) {
  const patched = new Map();
  for (const { query, key, share, kind, layer, head } of points) {
    const name = shortName({ kind, layer, head });
    if (!patched.has(name)) patched.set(name, { kind, layer, head, rows: [] });
    const own = heads[kind][layer][head].weights[query];
    patched.get(name).rows[query] = rowWith(own, key, share, kind === "decoder" ? query + 1 : own.length);
  }
  return { mute, patch: [...patched.values()] };
}

/** A pointed row as an address has it: head, query, key, and the share if it is not all. */
export function pointName({ query, key, share, ...head }) {
  return [shortName(head), query, key, ...(share === 1 ? [] : [share.toFixed(2)])].join(":");
}

/** All changes as one text, the same in whatever order they came; "" if there is none. */
export const namesOf = ({ mute, points }) => [...mute.map(shortName), ...points.map(pointName)].sort().join();
