// The lab on stored records: nothing runs, and everything can be looked at.

import { readRecords } from "../record.js";
import { keepAddress } from "./address.js";
import { RecordAnswerer } from "./answerers/record.js";
import { mountLab, mountSaved } from "./lab.js";
import { toCode } from "./names.js";
import { RecordScores } from "./record_scores.js";
import { State } from "./state.js";

/** Where data of version 2 say what is open at first, { kind, layer, head, pinned }, say it as an address does. */
function toAddress(start) {
  if (typeof start === "string") return start;
  const [row, key] = start.pinned;
  return new URLSearchParams({ head: toCode(start), ...(row == null ? {} : { row }), ...(row == null || key == null ? {} : { key }) }).toString();
}

/** Replace each still picture of this name by a lab. */
export const mountRecordPages = (name) => mountSaved("record", name, async (place, data) => {
  const state = new State(new RecordAnswerer(await readRecords(data)), { languages: ["source", "target"], ...data });
  const start = toAddress(data.start);
  if (data.address) keepAddress(state, start); // in a page of its own
  else state.follow(start);
  mountLab(place, state, { data, scores: new RecordScores(state) });
});
