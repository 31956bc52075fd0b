// What an intervention changes: the probabilities before and after it, word by word.

import { findStrongest } from "../ranking.js";

/** Return the largest difference between the probabilities of a word before and after. */
function computeLargestChange(before, after) {
  let most = 0;
  for (let id = 0; id < before.length; id++) most = Math.max(most, Math.abs(after[id] - before[id]));
  return most;
}

/** Return the words [{ id, before, after }] of a step whose probability before or after is largest. */
export function findWordsAtStake(before, after, most = 2) {
  const ids = new Set([...findStrongest(before, most), ...findStrongest(after, most)]);
  const weight = (id) => Math.max(before[id], after[id]);
  return [...ids].sort((a, b) => weight(b) - weight(a)).slice(0, most).map((id) => ({ id, before: before[id], after: after[id] }));
}

/** Return the steps whose probabilities changed most, most first, none that changed by less than `least`. */
export function findStepsAtStake(before, after, most = 3, least = 0.005) {
  const distances = before.map((values, step) => computeLargestChange(values, after[step]));
  return findStrongest(distances, most).filter((step) => distances[step] >= least);
}

/** Compute by how much the log-odds of the first of two words against the second are larger before than after, in nats. */
export function computePush([first, second]) {
  const odds = (when) => Math.log(Math.max(first[when], 1e-45) / Math.max(second[when], 1e-45));
  return odds("before") - odds("after");
}

/** Return the largest loss of probability, 0 to 1, of the words that were written, and its step. */
export function computeCost(before, after, written) {
  const losses = written.map((id, step) => before[step][id] - after[step][id]);
  const [step] = findStrongest(losses, 1);
  return { loss: Math.max(0, losses[step]), step };
}
