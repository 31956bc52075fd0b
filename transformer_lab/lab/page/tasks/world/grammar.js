// The bilingual world: seeded splits of English sentences and their French translations. The same seed gives
// the same pairs as in Python's `data/world/grammar.py`, whose modules these mirror.

import { CONSTRUCTIONS } from "./constructions.js";
import { isHeldOutCombination } from "./held_out.js";
import { realiseSurface } from "./phrases.js";
import { Random } from "./random.js";
import { WORDS } from "./words.js";

/** Return tokens as a text; in French a space stands before `?`, in English it doesn't. */
function joinWords(tokens, french = false) {
  let text = "";
  for (const word of tokens) {
    const attached = word === "," || (word === "?" && !french);
    text += attached || text === "" || text.endsWith("'") ? word : ` ${word}`;
  }
  return text;
}

function makeWorldPair(phrase, construction) {
  const [sourceTokens, targetTokens] = realiseSurface(phrase);
  const { combinations } = phrase;
  return {
    source: joinWords(sourceTokens),
    target: joinWords(targetTokens, true),
    sourceTokens,
    targetTokens,
    construction,
    combinations,
  };
}

/** Return whether the pair states a combination that training and validation never show. */
export const isHeldOut = (pair) => pair.combinations.some(([noun, word]) => isHeldOutCombination(noun, word));

/**
 * Draw sentence pairs without end, including repeats and held-out combinations.
 *
 * A pair has `source` and `target`, the same as tokens in `sourceTokens` and `targetTokens`, the name of its
 * `construction`, and the (noun, describing word) pairs that it states in `combinations`.
 */
export function* makeSentences(seed = 0) {
  const rng = new Random(seed);
  const names = Object.keys(WORDS.WEIGHTS);
  const weights = Object.values(WORDS.WEIGHTS);
  while (true) {
    for (const name of rng.choices(names, weights, 1000)) yield makeWorldPair(CONSTRUCTIONS[name](rng), name);
  }
}

const MOST_PAIRS = 200_000;

/**
 * Draw the three splits of the bilingual world; no source sentence is in two of them.
 *
 * Half of the test pairs (rounded up) state a held-out combination; training and validation pairs never do.
 * Worlds of one seed that differ only in the size of training share validation and test, and the smaller
 * training set is the beginning of the larger one. A RangeError says which size is wrong.
 */
export function makeWorld({ train = 20_000, validation = 1_000, test = 1_000, seed = 0 } = {}) {
  for (const [name, size] of Object.entries({ train, validation, test })) {
    if (!(Number.isInteger(size) && size >= 0)) throw new RangeError(`${name} is ${size}; expected an integer of at least 0`);
  }
  const total = train + validation + test;
  const sum = `train + validation + test is ${total}`;
  if (total > MOST_PAIRS) throw new RangeError(`${sum}, but the grammar gives at most ${MOST_PAIRS} pairs`);

  const seen = new Set();
  // The pairs drawn, by the split they go to, in the order in which the splits are filled.
  const ordinary = { test: [], validation: [], train: [] };
  const room = { test: Math.floor(test / 2), validation, train };
  const held = [];
  const mostHeld = test - room.test;
  const openSplits = Object.keys(ordinary).filter((name) => room[name]);
  // A bound on the draws, so that a grammar that has run dry is an error and not a hang.
  let draws = 10_000 + 20 * total;
  for (const pair of makeSentences(seed)) {
    if (draws-- === 0) throw new RangeError(`${sum}, but the grammar has fewer different sentences`);
    if (!openSplits.length && held.length === mostHeld) break;
    const key = pair.sourceTokens.join(" ");
    if (seen.has(key)) continue;
    seen.add(key);
    if (isHeldOut(pair)) {
      if (held.length < mostHeld) held.push(pair);
    } else if (openSplits.length) {
      const [name] = openSplits;
      ordinary[name].push(pair);
      if (ordinary[name].length === room[name]) openSplits.shift();
    }
  }
  const tested = [...ordinary.test, ...held];
  new Random(seed).shuffle(tested);
  return { train: ordinary.train, validation: ordinary.validation, test: tested };
}
