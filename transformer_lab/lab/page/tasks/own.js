// The learner's own pairs, from a text with one pair a line. It's read here, in the page, and sent nowhere.

import { makeRandom } from "../engine/untrained.js";
import { drawDifferent } from "./draws.js";
import { checkEnough, getKey, splitPairs, writeCount } from "./splits.js";
import { makeJoinedVocabulary, makeVocabulary, rankTokens, splitText, trainVocabulary } from "./vocabulary.js";

const LARGEST_TEXT = 5_000_000; // characters
const MOST_OWN_PAIRS = 50_000;
const MOST_TOKENS = 60; // a side
const MOST_OWN_WORDS = 8_000; // a side
const SEPARATORS = { "\t": "tab", ";": "semicolon", ",": "comma" };
const UNITS = ["auto", "letters", "words"];
// Control characters but tabs and ends of lines, signs that turn the direction of a text, and halves of pairs.
const INVISIBLE = /[^\P{Cc}\t\n\r]|[\p{Cf}\p{Cs}]/gu;

/** Tabs separate the sides if there are any; otherwise semicolons or commas do, whichever the first line has. */
function findSeparator(text) {
  if (text.includes("\t")) return "\t";
  const first = text.trim().split(/[\r\n]/, 1)[0];
  return [";", ","].find((sign) => first.includes(sign)) ?? "\t";
}

/** Split a line of CSV at its separators; a cell in quotes may hold some. */
function splitCells(line, separator) {
  const cell = new RegExp(`${separator}(?:\\s*"((?:[^"]|"")*)"\\s*(?=${separator}|$)|([^${separator}]*))`, "g");
  return [...(separator + line).matchAll(cell)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}

/** Return the two sides of line `number`; what stands behind a second tab is left out. */
function splitLine(line, number, separator) {
  const name = SEPARATORS[separator];
  const expected = `expected a source, a ${name} and a target`;
  const cells = separator === "\t" ? line.split("\t", 2) : splitCells(line, separator);
  if (cells.length < 2) throw new Error(`line ${number} has no ${name}; ${expected}`);
  if (cells.length > 2) throw new Error(`line ${number} has more than one ${name}; ${expected}. A text with a ${name} in it needs "quotes"`);
  cells.forEach((text, i) => {
    if (!splitText(text, "letters").length) throw new Error(`line ${number} has an empty ${["source", "target"][i]}; ${expected}`);
  });
  return cells;
}

/** Return the lines that aren't blank, as pairs of texts. */
function readLines(text) {
  const separator = findSeparator(text);
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => (line.trim() ? [splitLine(line, i + 1, separator)] : []));
}

/** Decide how a side's texts are read: as words, if most of them have more than one. */
function findUnit(texts) {
  return 2 * texts.filter((text) => /\S\s+\S/.test(text)).length > texts.length ? "words" : "letters";
}

/**
 * Read pairs from a text: a pair a line, its source and target separated by a tab, or by a semicolon or a comma as in CSV.
 *
 * `unit` says what a token is on both sides: "letters", "words" or "auto", which decides for each side. Returns `pairs`,
 * whose sides are lists of tokens, the two `units`, and what was left out, as `notes`. An Error says what's wrong, and
 * in which line.
 */
export function readPairs(text, unit = "auto") {
  if (!UNITS.includes(unit)) throw new Error(`unit is ${unit}; expected ${UNITS.join(", ")}`);
  if (text.length > LARGEST_TEXT) throw new Error(`the text has ${writeCount(text.length)} characters; expected at most ${writeCount(LARGEST_TEXT)}`);
  const lines = readLines(text.replace(INVISIBLE, ""));
  const units = [0, 1].map((side) => (unit === "auto" ? findUnit(lines.map((line) => line[side])) : unit));
  const pairs = new Map();
  let long = 0;
  let repeated = 0;
  let more = 0;
  for (const line of lines) {
    const [source, target] = line.map((side, i) => splitText(side, units[i]));
    const key = getKey({ source });
    if (Math.max(source.length, target.length) > MOST_TOKENS) long++;
    else if (pairs.has(key)) repeated++;
    else if (pairs.size === MOST_OWN_PAIRS) more++;
    else pairs.set(key, { source, target, texts: { source: line[0], target: line[1] } });
  }
  const notes = [
    [long, `a side may have at most ${MOST_TOKENS} words or letters`],
    [repeated, "each source is used once"],
    [more, `at most ${writeCount(MOST_OWN_PAIRS)} pairs are used`],
  ].filter(([count]) => count).map(([count, why]) => `${writeCount(count)} ${count === 1 ? "pair was" : "pairs were"} left out, because ${why}.`);
  checkEnough(pairs.size, notes);
  return { pairs: [...pairs.values()], units, notes };
}

/** Return the vocabulary of one side of pairs, and a note if some of its words are left out. */
function findVocabulary(pairs, side, unit) {
  const all = unit === "letters"
    ? makeJoinedVocabulary(rankTokens(pairs.map((pair) => pair[side])))
    : trainVocabulary(pairs.map((pair) => pair.texts[side]));
  const words = all.words.slice(0, MOST_OWN_WORDS);
  const joined = new Set(all.joined);
  const counted = `The ${side} has ${writeCount(all.words.length)} different ${unit}; the model knows the ${writeCount(words.length)} most frequent ones.`;
  return {
    vocabulary: makeVocabulary(words, words.filter((word) => joined.has(word))),
    notes: words.length < all.words.length ? [counted] : [],
  };
}

export const OWN = {
  name: "own",
  title: "Your own pairs",
  question: "What would you like to teach it?",
  example: { source: "hello", target: "bonjour" },
  options: { text: "", unit: "auto" },
  make({ text, unit }) {
    const { pairs, units, notes } = readPairs(text, unit);
    return {
      unit: units[0],
      split({ train, test, seed }) {
        const random = makeRandom(seed);
        const found = splitPairs(drawDifferent(random, pairs, pairs.length), { train, test, random });
        const source = findVocabulary(found.train, "source", units[0]);
        const target = findVocabulary(found.train, "target", units[1]);
        return {
          ...found,
          source: source.vocabulary,
          target: target.vocabulary,
          notes: [...notes, ...found.notes, ...source.notes, ...target.notes],
        };
      },
    };
  },
};
