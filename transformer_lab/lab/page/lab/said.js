// Probabilities in words: "il 1.000 → 0.340 · elle < 0.001 → 0.660".

import { word } from "../elements.js";
import { formatNumber, formatProbability } from "../text.js";

/** Write a probability; one that wasn't kept is smaller than the `least` that was. */
const formatKept = (value, least) => (value || !least ? formatProbability(value) : `< ${formatNumber(Math.max(least, 0.001), 3)}`);

/** Write a probability, and behind an arrow the one after a change, if there is one; for `least`, of both, see `formatKept`. */
export const formatProbabilityChange = (before, after, least = []) =>
  [before, ...(after == null ? [] : [after])].map((value, i) => formatKept(value, least[i])).join(" → ");

/** Return nodes that name words { id, before, after } of a vocabulary, each with its probability. */
export const describeWordChanges = (vocabulary, found) => found.flatMap(({ id, before, after }, i) =>
  [i ? " · " : "", word(vocabulary.tokens([id])[0]), ` ${formatProbabilityChange(before, after)}`]);
