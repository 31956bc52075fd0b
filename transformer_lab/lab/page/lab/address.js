// The page's address: what is open and what is changed, so that it can be looked up again.

import { formatPoint, dropOverriddenPoints } from "./changes.js";
import { parseHead, isSeen, toCode } from "./names.js";

/** The ways to look at the open head: its lines, its map, how a weight comes about, what the head does. */
const VIEWS = ["lines", "map", "numbers", "effect"];
const POINT = /^([edc]\d+\.\d+):(\d+):(\d+)(?::(0(?:\.\d+)?|1(?:\.0+)?))?$/;

function listChangeFields({ mute, points }, prefix) {
  return {
    ...(mute.length ? { [`${prefix}mute`]: mute.map(toCode).sort().join() } : {}),
    ...(points.length ? { [`${prefix}point`]: points.map(formatPoint).sort().join() } : {}),
  };
}

/**
 * Write the address of what is open and changed. Behind `a-` stand the changes of A:
 * `#s=…&head=e2.1&row=3&step=9&mute=c1.4,e2.1&point=e2.1:3:5:0.50`.
 */
export function formatAddress({ answerer, text, head, also, view, beside: { name: beside }, row, key, step, showsAll, kept, ...changes }) {
  const fields = {
    ...(answerer.canAsk ? { s: text } : {}),
    head: toCode(head),
    ...(also.length ? { also: also.map(toCode).join() } : {}),
    ...(view === "lines" ? {} : { view }),
    ...(beside ? { beside } : {}),
    ...(showsAll ? {} : { row }), // no word is pinned
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
const removeDuplicates = (heads) => [...new Map(heads.map((head) => [toCode(head), head])).values()];

/** What else an address names, as far as a translation has it: { head, also, view, beside, row, key, step, mute, points, kept }. */
export function readAddress(address, { heads }) {
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const list = (name) => (fields.get(name) ?? "").split(",").filter(Boolean);
  const numbers = (name) => (/^\d+$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : null);
  const rowsOf = (head) => (head && heads[head.kind]?.[head.layer]?.[head.head]?.weights) || null;
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
    view: VIEWS.includes(fields.get("view")) ? fields.get("view") : "lines",
    beside: fields.get("beside") ?? "",
    row: numbers("row"),
    key: numbers("key"),
    step: numbers("step"),
    ...changes(""),
    kept: changes("a-"),
  };
}

const SETTLED = 150; // milliseconds without a change: writing an address is slow, and a drag would write dozens

/**
 * Keep the page's address true to the state, and the state to the address; begin at it, or else at `start`.
 *
 * What changes the model makes an entry of the browser's history, so that Back undoes it. What is merely
 * looked at does not.
 */
export function keepAddress(state, start) {
  let [isDeed, timer] = [false, null];
  const write = () => {
    const address = formatAddress(state);
    if (address !== location.hash) history[isDeed ? "pushState" : "replaceState"](null, "", address);
    isDeed = false;
  };
  state.follow(start);
  if (location.hash.length > 1) state.follow(location.hash); // what it leaves out is as at the start
  write();
  state.watch((deed) => {
    isDeed ||= deed;
    clearTimeout(timer);
    timer = setTimeout(write, SETTLED);
  });
  addEventListener("hashchange", () => {
    clearTimeout(timer);
    state.follow(location.hash);
  });
}
