// What an intervention changes: the probabilities before and after it, word by word.

/** The places of the largest numbers, best first. */
export function largest(values, most) {
  return Array.from(values.keys()).sort((a, b) => values[b] - values[a]).slice(0, most);
}

/** How far a step's probabilities moved: the largest difference of any word. */
function moved(before, after) {
  return before.reduce((most, value, id) => Math.max(most, Math.abs(after[id] - value)), 0);
}

/** The words of a step that matter most before or after: [{ id, before, after }], by the larger of the two. */
export function wordsAtStake(before, after, most = 2) {
  const ids = new Set([...largest(before, most), ...largest(after, most)]);
  const weight = (id) => Math.max(before[id], after[id]);
  return [...ids].sort((a, b) => weight(b) - weight(a)).slice(0, most).map((id) => ({ id, before: before[id], after: after[id] }));
}

/** The steps that moved most, most first, none that moved less than `least`. */
export function stepsAtStake(before, after, most = 3, least = 0.005) {
  const distances = before.map((values, step) => moved(values, after[step]));
  return largest(distances, most).filter((step) => distances[step] >= least);
}

/** How much more a pass speaks for the first of two words than another pass, in nats of log-odds. */
export function pushOf([first, second]) {
  const odds = (when) => Math.log(Math.max(first[when], 1e-45) / Math.max(second[when], 1e-45));
  return odds("before") - odds("after");
}

/** What a change costs the words that were written: the largest loss of probability, 0 to 1, and its step. */
export function costOf(before, after, written) {
  const losses = written.map((id, step) => before[step][id] - after[step][id]);
  const [step] = largest(losses, 1);
  return { loss: Math.max(0, losses[step]), step };
}
