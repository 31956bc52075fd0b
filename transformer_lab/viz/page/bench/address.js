// The page's address: what is open and what is changed, so that it can be looked up again.

import { pointName } from "./changes.js";
import { headOf, isSeen, shortName } from "./names.js";

const POINT = /^([edc]\d+\.\d+):(\d+):(\d+)(?::(0(?:\.\d+)?|1(?:\.0+)?))?$/;

function changesIn({ mute, points }, prefix) {
  return {
    ...(mute.length ? { [`${prefix}mute`]: mute.map(shortName).sort().join() } : {}),
    ...(points.length ? { [`${prefix}point`]: points.map(pointName).sort().join() } : {}),
  };
}

/** `#s=…&head=e2.1&row=3&step=9&mute=c1.4,e2.1&point=e2.1:3:5:0.50`; behind `a-` stand the changes of A. */
export function addressOf({ text, head, row, key, step, kept, ...changes }) {
  const fields = {
    s: text,
    head: shortName(head),
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

/** The last of those that have the same name. */
const lastOfEach = (list, name) => [...new Map(list.map((one) => [name(one), one])).values()];

/** What else an address names, as far as a translation has it: { head, row, key, step, mute, points, kept }. */
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
    mute: lastOfEach(list(`${prefix}mute`).map(headOf).filter(rowsOf), shortName),
    points: lastOfEach(list(`${prefix}point`).flatMap(point), (one) => `${shortName(one)}:${one.query}`),
  });
  const head = headOf(fields.get("head") ?? "");
  return {
    head: rowsOf(head) && head,
    row: numbers("row"),
    key: numbers("key"),
    step: numbers("step"),
    ...changes(""),
    kept: changes("a-"),
  };
}
