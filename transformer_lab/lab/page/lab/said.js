// Probabilities in words: "il 1.000 → 0.340 · elle < 0.001 → 0.660".

import { word } from "../elements.js";
import { formatProbability } from "../text.js";

/** Write a probability, and behind an arrow the one after a change, if there is one. */
export const formatProbabilityChange = (before, after) => (after == null ? formatProbability(before) : `${formatProbability(before)} → ${formatProbability(after)}`);

/** Return nodes that name words { id, before, after } of a vocabulary, each with its probability. */
export const describeWordChanges = (vocabulary, found) => found.flatMap(({ id, before, after }, i) =>
  [i ? " · " : "", word(vocabulary.tokens([id])[0]), ` ${formatProbabilityChange(before, after)}`]);
