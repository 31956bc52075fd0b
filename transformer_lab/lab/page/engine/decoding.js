// Writing a translation: the best word each time, or the best few beginnings (§6.1).

import { findStrongest } from "../ranking.js";
import { logSoftmax, softmax } from "./vectors.js";
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
export function computeLengthLimit({ config }, sourceLength) {
  return config.positions === "learned" ? Math.min(sourceLength + 50, config.max_length) : sourceLength + 50;
}

/**
 * Write one word after the other, each as `choose` takes it from the logits, behind those that are written
 * already: `ids`, all but the last of which the `past` has read. Returns the ids, eos with them.
 */
function write(model, memory, hooks, choose, ids = [], past = model.begin(memory)) {
  const { bos_id: bos, eos_id: eos } = model.config;
  const limit = computeLengthLimit(model, memory.rows);
  const written = [...ids];
  let last = written.at(-1) ?? bos;
  while (last !== eos && written.length < limit) {
    const step = model.decode([last], past, hooks);
    past = step.past;
    last = choose(step.logits.row(0));
    written.push(last);
  }
  return written;
}

/**
 * Return what the model would write in place of a guess, as it said when it read the guess: { written, logits }.
 *
 * Where the guess is wrong in a word, that's mostly the translation: the words behind it seldom hang on it
 * (Jacobi decoding, Santilli et al. 2023).
 */
export function correctGuess({ config }, { written, logits }) {
  const said = written.map((_, step) => argmax(logits.row(step)));
  const end = said.indexOf(config.eos_id);
  return end < 0 ? said : said.slice(0, end + 1);
}

/**
 * Write the most probable word, then the next; returns the ids, eos with them.
 *
 * `guess`, if there is one, is what the model said when it read words that it will probably write, { written,
 * logits, past }. They are kept as far as they are right (as in speculative decoding, Leviathan et al. 2023):
 * reading words at once takes less time than writing them one by one.
 */
export function greedy(model, memory, hooks = NO_HOOKS, guess = null) {
  if (!guess) return write(model, memory, hooks, argmax);
  const { written, logits, past } = guess;
  const wrong = written.findIndex((id, step) => argmax(logits.row(step)) !== id);
  if (wrong < 0) return write(model, memory, hooks, argmax, written, past);
  const kept = past.map(({ words: { keys, values }, memory: seen }) =>
    ({ words: { keys: keys.first(wrong + 1), values: values.first(wrong + 1) }, memory: seen }));
  return write(model, memory, hooks, argmax, [...written.slice(0, wrong), argmax(logits.row(wrong))], kept);
}

/**
 * Return the probabilities by which a word is drawn: the logits are divided by `temperature`, and then
 * only the fewest words stay that reach `topP` together (nucleus sampling, Holtzman et al. 2020).
 *
 * It computes what `decoding/sampling.py` computes, with the same millionth for rounding.
 */
export function computeDraw(logits, temperature, topP) {
  const most = logits[argmax(logits)];
  const sharp = softmax(Array.from(logits, (logit) => (logit - most) / temperature));
  const kept = new Float64Array(sharp.length);
  let reached = 0;
  for (const id of [...sharp.keys()].sort((a, b) => sharp[b] - sharp[a])) {
    if (topP < 1 && reached > 0 && reached >= topP * (1 - 1e-6)) break;
    kept[id] = sharp[id];
    reached += sharp[id];
  }
  return kept.map((probability) => probability / reached);
}

/** Draw one word after the other; `random` gives numbers from 0 to 1. */
export function sample(model, memory, { random, temperature = 1, topP = 1, hooks = NO_HOOKS }) {
  return write(model, memory, hooks, (logits) => {
    const probabilities = computeDraw(logits, temperature, topP);
    let left = random();
    const drawn = probabilities.findIndex((probability) => (left -= probability) < 0);
    return drawn < 0 ? argmax(probabilities) : drawn; // rounding may leave a little
  });
}

/** Return the `most` best words after a beginning, each with the log-probability of both together. */
function findCandidates(beginning, values, most) {
  return findStrongest(values, most).map((word) => ({ beginning, word, total: beginning.total + values[word] }));
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
