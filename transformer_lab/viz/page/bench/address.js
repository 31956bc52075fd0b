// The page's address: what is open and what is changed, so that it can be looked up again.

import { pointName } from "./changes.js";
import { headOf, shortName } from "./names.js";

function changesIn({ mute, points }, prefix) {
  return {
    ...(mute.length ? { [`${prefix}mute`]: mute.map(shortName).join() } : {}),
    ...(points.length ? { [`${prefix}point`]: points.map(pointName).join() } : {}),
  };
}

/** `#s=…&head=e2.1&row=3&step=9&mute=e2.1,c1.4&point=e2.1:3:5:0.50`; behind `a-` stand the changes of A. */
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

/** What else an address names, as far as a translation has it: { head, row, key, step, mute, points, kept }. */
export function readAddress(address, { maps }) {
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const list = (name) => (fields.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
  const rowsOf = (head) => (head && maps[head.kind][head.layer]?.[head.head]) || null;
  const point = (text) => {
    const [name, query, key, share = "1"] = text.split(":");
    const head = headOf(name);
    const isThere = rowsOf(head)?.[query]?.[key] != null && Number(share) >= 0 && Number(share) <= 1;
    return isThere ? [{ ...head, query: Number(query), key: Number(key), share: Number(share) }] : [];
  };
  const changes = (prefix) => ({
    mute: list(`${prefix}mute`).map(headOf).filter(rowsOf),
    points: list(`${prefix}point`).flatMap(point),
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
