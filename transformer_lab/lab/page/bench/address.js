// The page's address: what is open and what is changed, so that it can be looked up again.

import { pointName, settled } from "./changes.js";
import { headOf, isSeen, shortName } from "./names.js";

/** How the open head's weights are drawn: all as a table, or the pinned word's or the strongest as lines. */
export const VIEWS = ["map", "lines", "strongest"];
const POINT = /^([edc]\d+\.\d+):(\d+):(\d+)(?::(0(?:\.\d+)?|1(?:\.0+)?))?$/;

function changesIn({ mute, points }, prefix) {
  return {
    ...(mute.length ? { [`${prefix}mute`]: mute.map(shortName).sort().join() } : {}),
    ...(points.length ? { [`${prefix}point`]: points.map(pointName).sort().join() } : {}),
  };
}

/** `#s=…&head=e2.1&row=3&step=9&mute=c1.4,e2.1&point=e2.1:3:5:0.50`; behind `a-` stand the changes of A. */
export function addressOf({ text, head, also, view, row, key, step, kept, ...changes }) {
  const fields = {
    s: text,
    head: shortName(head),
    ...(also.length ? { also: also.map(shortName).join() } : {}),
    ...(view === "map" ? {} : { view }),
    row,
    ...(key == null ? {} : { key }),
    step,
    ...changesIn(changes, ""),
    ...changesIn(kept, "a-"),
  };
  return `#${new URLSearchParams(fields)}`;
}

/** The sentence that an address names, or null. */
export const sentenceIn = (address) => new URLSearchParams(address.replace(/^#/, "")).get("s");

/** Heads without those that came before. */
const different = (heads) => [...new Map(heads.map((head) => [shortName(head), head])).values()];

/** What else an address names, as far as a translation has it: { head, also, view, row, key, step, mute, points, kept }. */
export function readAddress(address, { maps }) {
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const list = (name) => (fields.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
  const rowsOf = (head) => (head && maps[head.kind][head.layer]?.[head.head]) || null;
  const point = (text) => {
    const [, name, query, key, share = "1"] = text.match(POINT) ?? [];
    const head = name ? headOf(name) : null;
    const found = { ...head, query: Number(query), key: Number(key), share: Number(share) };
    const isThere = rowsOf(head)?.[found.query]?.[found.key] != null && isSeen(head.kind, found.query, found.key);
    return isThere ? [found] : [];
  };
  const changes = (prefix) => ({
    mute: different(list(`${prefix}mute`).map(headOf).filter(rowsOf)),
    points: settled(list(`${prefix}point`).flatMap(point)),
  });
  const head = headOf(fields.get("head") ?? "");
  return {
    head: rowsOf(head) && head,
    also: different(list("also").map(headOf).filter(rowsOf)),
    view: VIEWS.includes(fields.get("view")) ? fields.get("view") : "map",
    row: numbers("row"),
    key: numbers("key"),
    step: numbers("step"),
    ...changes(""),
    kept: changes("a-"),
  };
}
