// Probabilities in words: "il 1.000 → 0.340 · elle < 0.001 → 0.660".

import { word } from "../elements.js";
import { probability } from "../text.js";

/** A probability, and what it has become if something is changed. */
export const moveOf = (before, after) => (after == null ? probability(before) : `${probability(before)} → ${probability(after)}`);

/** Words of a vocabulary, { id, before, after }, each with its probability. */
export const wordsSaid = (vocabulary, found) => found.flatMap(({ id, before, after }, i) =>
  [i ? " · " : "", word(vocabulary.tokens([id])[0]), ` ${moveOf(before, after)}`]);
