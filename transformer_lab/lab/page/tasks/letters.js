// Tasks about the letters of a word: copy, reverse, sort and count them.

import { checkLengths, checkWhole, drawBetween, drawFrom } from "./draws.js";
import { makeJoinedVocabulary, makeVocabulary } from "./vocabulary.js";

export const ALPHABET = [..."abcdefghijklmnopqrstuvwxyz"];

/** `change` makes the target's letters from the source's; `vocabulary`, the target's, from the alphabet. */
function makeLettersTask(description, change, vocabulary = makeJoinedVocabulary) {
  const make = ({ shortest, longest, letters }) => {
    checkLengths({ shortest, longest });
    checkWhole("letters", letters, 2, 26);
    const alphabet = ALPHABET.slice(0, letters);
    return {
      unit: "letters",
      source: makeJoinedVocabulary(alphabet),
      target: vocabulary(alphabet, longest),
      draw(random) {
        const source = Array.from({ length: drawBetween(random, shortest, longest) }, () => drawFrom(random, alphabet));
        return { source, target: change(source) };
      },
    };
  };
  return { options: { shortest: 3, longest: 9, letters: 26 }, ...description, make };
}

export const COPY = makeLettersTask({
  name: "copy",
  title: "Copy",
  question: "Can it write down the letters that it reads?",
  example: { source: "gdkat", target: "gdkat" },
}, (letters) => letters);

export const REVERSE = makeLettersTask({
  name: "reverse",
  title: "Reverse",
  question: "Can it write the letters from the last to the first?",
  example: { source: "gdkat", target: "takdg" },
}, (letters) => [...letters].reverse());

export const SORT = makeLettersTask({
  name: "sort",
  title: "Sort",
  question: "Can it put the letters in alphabetical order?",
  example: { source: "gdkat", target: "adgkt" },
}, (letters) => [...letters].sort());

/** The letters that occur, and behind each of them how often it does. */
function countLetters(letters) {
  const count = (letter) => letters.filter((other) => other === letter).length;
  return [...new Set(letters)].sort().flatMap((letter) => [letter, String(count(letter))]);
}

/** The letters, and the numbers up to `longest`, which are written onto them: "a2 b1". */
function makeCountVocabulary(alphabet, longest) {
  const numbers = Array.from({ length: longest }, (_, i) => String(i + 1));
  return makeVocabulary([...alphabet, ...numbers], numbers);
}

export const COUNT = makeLettersTask({
  name: "count",
  title: "Count",
  question: "Can it tell how often each letter occurs?",
  example: { source: "badabb", target: "a2 b3 d1" },
  options: { shortest: 5, longest: 12, letters: 4 },
}, countLetters, makeCountVocabulary);
