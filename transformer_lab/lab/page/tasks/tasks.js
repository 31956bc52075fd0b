// The tasks of the playground, and the examples of one: those for training, and those for the test, which training never shows.

import { makeRandom } from "../engine/untrained.js";
import { Words } from "../engine/words.js";
import { BRACKETS } from "./brackets.js";
import { DATES } from "./dates.js";
import { checkWhole, drawFrom } from "./draws.js";
import { COPY, COUNT, REVERSE, SORT } from "./letters.js";
import { NUMBERS_DE, NUMBERS_EN, NUMBERS_FR } from "./numbers.js";
import { OWN } from "./own.js";
import { PARTNER } from "./partner.js";
import { getKey, POOL, splitPairs } from "./splits.js";
import { encodeTokens, SPACE_SIGN, splitText } from "./vocabulary.js";
import { WORLD } from "./world/task.js";

/**
 * What there is to learn, in the order of descriptions.js. A task has a `name`, and the `options` that can be chosen, with
 * their defaults.
 *
 * Its `make(options)` gives the `unit` of which a source consists, "letters" or "words", and either `draw(random)`, which
 * draws one pair of lists of tokens, with the vocabularies `source` and `target`; or, where the pairs are a list,
 * `split({ train, test, seed })`, which returns two lists of pairs, the vocabularies and `notes`.
 */
export const TASKS = [COPY, REVERSE, SORT, PARTNER, COUNT, BRACKETS, DATES, NUMBERS_EN, NUMBERS_FR, NUMBERS_DE, WORLD, OWN];

/** Return the task of a name; undefined if there's none. */
export const findTask = (name) => TASKS.find((task) => task.name === name);

/** Divide the pairs of a task that draws them. With `train` null, training has no list unless the task runs out of pairs. */
function splitDrawn(draw, { train, test, seed }) {
  const random = makeRandom(seed);
  const wanted = Math.max(POOL * test, test + train);
  const pairs = new Map();
  for (let tries = 20 * wanted; tries && pairs.size < wanted; tries--) {
    const pair = draw(random);
    if (!pairs.has(getKey(pair))) pairs.set(getKey(pair), pair);
  }
  const found = splitPairs([...pairs.values()], { train, test, seed });
  return train === null && pairs.size === wanted ? { ...found, train: null } : found;
}

/** Return all options of a task, those that aren't chosen with their defaults. */
function completeOptions({ name, options }, chosen) {
  const known = Object.keys(options);
  for (const option of Object.keys(chosen)) {
    if (!known.includes(option)) throw new Error(`the task ${name} has no option ${option}; expected ${known.join(", ") || "none"}`);
  }
  return { ...options, ...chosen };
}

/**
 * Make the data of a task: the same from the same seed.
 *
 * `test` is the number of pairs that are kept back; no source of theirs is in training. `train` limits training to that
 * many different pairs; null doesn't limit it. Returns
 *
 * - `test` and `train`: lists of pairs { source, target } of ids that end with eos; `train` is null where there's no limit,
 * - `sample(random)`: draws a pair for training,
 * - `source` and `target`: the `Words` that turn ids into text, and `vocabularies`: both, as Python saves them,
 * - `read(text)`: the ids of a source that somebody typed, and its `unknown` letters or words,
 * - `notes`: sentences on what there's less of than was asked for.
 */
export function makeData(task, { train = null, test = 512, seed = 0, options = {} } = {}) {
  if (train !== null) checkWhole("train", train, 1, 100_000);
  checkWhole("test", test, 1, 10_000);
  checkWhole("seed", seed, 0, 2 ** 31 - 1);
  const made = task.make(completeOptions(task, options));
  const split = made.draw ? { ...made, ...splitDrawn(made.draw, { train, test, seed }) } : made.split({ train, test, seed });
  const source = new Words(split.source);
  const target = new Words(split.target);
  const encode = (pair) => ({ source: encodeTokens(source, pair.source), target: encodeTokens(target, pair.target) });
  const trained = split.train?.map(encode) ?? null;
  const tested = new Set(split.test.map(getKey));

  /** Draw a pair that isn't in the test; there are always some, because the test was drawn from many more. */
  function drawUntested(random) {
    let pair;
    do pair = made.draw(random); while (tested.has(getKey(pair)));
    return encode(pair);
  }

  return {
    source,
    target,
    vocabularies: { source: split.source, target: split.target },
    test: split.test.map(encode),
    train: trained,
    sample: (random) => (trained ? drawFrom(random, trained) : drawUntested(random)),
    read(text) {
      const tokens = splitText(text, made.unit).filter((token) => token !== SPACE_SIGN || source.ids.has(SPACE_SIGN));
      return { ids: encodeTokens(source, tokens), unknown: tokens.filter((token) => !source.ids.has(token)) };
    },
    notes: split.notes,
  };
}
