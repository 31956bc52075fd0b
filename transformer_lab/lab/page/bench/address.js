// The page's address: what is open and what is changed, so that it can be looked up again.

import { formatPoint, dropOverriddenPoints } from "./changes.js";
import { parseHead, isSeen, toShortName } from "./names.js";

/** How the open head's weights are drawn: all as a table, or the pinned word's or the strongest as lines. */
export const VIEWS = ["map", "lines", "strongest"];
const POINT = /^([edc]\d+\.\d+):(\d+):(\d+)(?::(0(?:\.\d+)?|1(?:\.0+)?))?$/;

function listChangeFields({ mute, points }, prefix) {
  return {
    ...(mute.length ? { [`${prefix}mute`]: mute.map(toShortName).sort().join() } : {}),
    ...(points.length ? { [`${prefix}point`]: points.map(formatPoint).sort().join() } : {}),
  };
}

/**
 * Write the address of what is open and changed. Behind `a-` stand the changes of A:
 * `#s=…&head=e2.1&row=3&step=9&mute=c1.4,e2.1&point=e2.1:3:5:0.50`.
 */
export function formatAddress({ text, head, also, view, row, key, step, kept, ...changes }) {
  const fields = {
    s: text,
    head: toShortName(head),
    ...(also.length ? { also: also.map(toShortName).join() } : {}),
    ...(view === "map" ? {} : { view }),
    row,
    ...(key == null ? {} : { key }),
    step,
    ...listChangeFields(changes, ""),
    ...listChangeFields(kept, "a-"),
  };
  return `#${new URLSearchParams(fields)}`;
}

/** Return the sentence of an address, or null. */
export const readSentence = (address) => new URLSearchParams(address.replace(/^#/, "")).get("s");

/** Return the heads, each of them once. */
const removeDuplicates = (heads) => [...new Map(heads.map((head) => [toShortName(head), head])).values()];

/** What else an address names, as far as a translation has it: { head, also, view, row, key, step, mute, points, kept }. */
export function readAddress(address, { maps }) {
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const list = (name) => (fields.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
  const rowsOf = (head) => (head && maps[head.kind][head.layer]?.[head.head]) || null;
  const point = (text) => {
    const [, name, query, key, share = "1"] = text.match(POINT) ?? [];
    const head = name ? parseHead(name) : null;
    const found = { ...head, query: Number(query), key: Number(key), share: Number(share) };
    const isThere = rowsOf(head)?.[found.query]?.[found.key] != null && isSeen(head.kind, found.query, found.key);
    return isThere ? [found] : [];
  };
  const changes = (prefix) => ({
    mute: removeDuplicates(list(`${prefix}mute`).map(parseHead).filter(rowsOf)),
    points: dropOverriddenPoints(list(`${prefix}point`).flatMap(point)),
  });
  const head = parseHead(fields.get("head") ?? "");
  return {
    head: rowsOf(head) && head,
    also: removeDuplicates(list("also").map(parseHead).filter(rowsOf)),
    view: VIEWS.includes(fields.get("view")) ? fields.get("view") : "map",
    row: numbers("row"),
    key: numbers("key"),
    step: numbers("step"),
    ...changes(""),
    kept: changes("a-"),
  };
}
