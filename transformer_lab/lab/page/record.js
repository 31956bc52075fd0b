// Records as Python packs them, decoded once: `record.maps[kind][layer][head]` is a HeadMap.

import { gunzip } from "./bytes.js";
import { HeadMap } from "./head_map.js";

/** Unpack the records of a page's data. */
export const readRecords = ({ records, fine_from }) =>
  Promise.all(records.map((record) => readRecord(record, fine_from)));

/** Unpack the maps of one record: its bytes are the upper ones of all maps, then the lower ones. Of some only the words are kept. */
export async function readRecord(record, fineFrom) {
  if (!record.weights) return { ...record, maps: {} };
  const bytes = await gunzip(record.weights);
  const shapes = [];
  let fine = 0;
  for (const [kind, heads] of Object.entries(record.heads)) {
    const { queries, keys } = getMapTokens(record, kind);
    const [rows, columns] = [queries.length, keys.length];
    heads.forEach((count, layer) => {
      for (let head = 0; head < count; head++) shapes.push({ kind, layer, head, rows, columns });
      fine += count * rows * columns;
    });
  }
  let start = 0;
  const maps = Object.fromEntries(Object.keys(record.heads).map((kind) => [kind, []]));
  shapes.forEach(({ kind, layer, head, rows, columns }, place) => {
    const upper = bytes.subarray(start, (start += rows * columns));
    const lower = bytes.subarray(fine, (fine += record.lower_bytes[place]));
    (maps[kind][layer] ??= [])[head] = new HeadMap(rows, columns, upper, lower, fineFrom);
  });
  return { ...record, maps };
}

/** Return the labels { queries, keys } of the maps of a kind; a row of cross-attention has the word that its step writes. */
export function getMapTokens(record, kind) {
  if (kind === "encoder") return { queries: record.source, keys: record.source };
  if (kind === "decoder") return { queries: record.target, keys: record.target };
  return { queries: record.written, keys: record.source };
}
