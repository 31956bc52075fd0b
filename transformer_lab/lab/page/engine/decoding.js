// Writing a translation: the best word each time, or the best few beginnings (§6.1).

import { logSoftmax } from "./vectors.js";
import { NO_HOOKS } from "./hooks.js";

/** Return the index of the largest number. */
function argmax(values) {
  let at = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[at]) at = i;
  return at;
}

/** ((5 + length) / 6)^α (Wu et al. 2016, equation 14). */
const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** Compute the length at which a translation is cut: source + 50, or where learned positions end. */
function computeLengthLimit({ config }, sourceLength) {
  return config.positions === "learned" ? Math.min(sourceLength + 50, config.max_length) : sourceLength + 50;
}

/** Write the most probable word, then the next. Returns the ids, eos with them, and log p of the whole. */
export function greedy(model, memory, hooks = NO_HOOKS) {
  const { bos_id: bos, eos_id: eos } = model.config;
  const limit = computeLengthLimit(model, memory.rows);
  const ids = [];
  let past = model.begin(memory);
  let last = bos;
  let total = 0;
  while (last !== eos && ids.length < limit) {
    const step = model.decode([last], past, hooks);
    const values = logSoftmax(step.logits.row(0));
    past = step.past;
    last = argmax(values);
    total += values[last];
    ids.push(last);
  }
  return { ids, logProbability: total };
}

/** Return the `most` best words after a beginning, each with the log-probability of both together. */
function findCandidates(beginning, values, most) {
  const words = Array.from(values.keys()).sort((a, b) => values[b] - values[a]).slice(0, most);
  return words.map((word) => ({ beginning, word, total: beginning.total + values[word] }));
}

/** Search with a beam: return the finished translations, best first. Each one takes a place of the beam. */
export function beamSearch(model, memory, { beamSize = 4, alpha = 0.6, hooks = NO_HOOKS } = {}) {
  const { bos_id: bos, eos_id: eos } = model.config;
  const limit = computeLengthLimit(model, memory.rows);
  const found = [];
  let beam = [{ ids: [], last: bos, total: 0, past: model.begin(memory) }];
  for (let length = 1; beam.length && length <= limit; length++) {
    const ranked = beam.flatMap((beginning) => {
      const { logits, past } = model.decode([beginning.last], beginning.past, hooks);
      return findCandidates({ ...beginning, past }, logSoftmax(logits.row(0)), beamSize);
    });
    ranked.sort((a, b) => b.total - a.total);
    const kept = ranked.slice(0, beamSize - found.length);
    const ends = ({ word }) => word === eos || length === limit;
    for (const { beginning, word, total } of kept.filter(ends)) {
      const score = total / lengthPenalty(length, alpha);
      found.push({ ids: [...beginning.ids, word], logProbability: total, score });
    }
    beam = kept.filter((candidate) => !ends(candidate)).map(({ beginning, word, total }) =>
      ({ ids: [...beginning.ids, word], last: word, total, past: beginning.past }));
    // Log-probabilities only fall and the penalty only grows: no beginning can score more than this.
    const hope = Math.max(...beam.map(({ total }) => total)) / lengthPenalty(limit, alpha);
    if (found.some(({ score }) => score >= hope)) break;
  }
  return found.sort((a, b) => b.score - a.score);
}
