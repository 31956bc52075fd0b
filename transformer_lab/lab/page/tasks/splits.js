// Pairs divided into those for training and those for the test.

import { makeRandom } from "../engine/untrained.js";
import { drawDifferent } from "./draws.js";

const FEWEST_PAIRS = 20;
/** The number of pairs among which each one of the test is drawn. Short words, of which there are few, are then seldom all in the test. */
export const POOL = 20;

/** The source as one text, to tell whether two pairs have the same. */
export const getKey = ({ source }) => source.join(" ");

export const writeCount = (count) => count.toLocaleString("en-US");

/** Throw an Error if there are too few pairs; `notes` say why some were left out. */
export function checkEnough(count, notes = []) {
  const message = `Found ${count} different ${count === 1 ? "pair" : "pairs"}; expected at least ${FEWEST_PAIRS}.`;
  if (count < FEWEST_PAIRS) throw new Error([message, ...notes].join(" "));
}

/**
 * Divide pairs, each with another source, into `test` pairs drawn by chance and the first `train` others (null: all).
 *
 * The test gets at most a fifth of them. Where there are fewer than were asked for, `notes` says so.
 */
export function splitPairs(pairs, { train, test, seed }) {
  checkEnough(pairs.length);
  // Of the first pairs, so that the test is the same whatever the size of training; seed + 1, because the seed has drawn them.
  const tested = drawDifferent(makeRandom(seed + 1), pairs.slice(0, POOL * test), Math.min(test, Math.floor(pairs.length / 5)));
  const isTested = new Set(tested);
  const trained = pairs.filter((pair) => !isTested.has(pair)).slice(0, train ?? pairs.length);
  const isShort = tested.length < test || trained.length < train;
  const counts = `There are ${writeCount(trained.length)} different pairs for training and ${writeCount(tested.length)} for the test.`;
  return { train: trained, test: tested, notes: isShort ? [counts] : [] };
}
