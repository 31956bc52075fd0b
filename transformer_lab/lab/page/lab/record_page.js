// The lab on stored records: nothing runs, and everything can be looked at.

import { readRecords } from "../record.js";
import { RecordAnswerer } from "./answerers/record.js";
import { mountLab, mountSaved } from "./lab.js";
import { RecordScores } from "./record_scores.js";
import { State } from "./state.js";

/** Replace each still picture of this name by a lab. */
export const mountRecordPages = (name) => mountSaved("record", name, async (place, data) => {
  const state = new State(new RecordAnswerer(await readRecords(data)), data);
  state.follow(data.start);
  state.showsAll = !/(^|&)row=/.test(data.start);
  mountLab(place, state, { data, scores: new RecordScores(state) });
});
