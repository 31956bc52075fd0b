// Find the partner: each letter has a digit, and the task is to tell the digits of those that are asked for.
//
// A letter and its digit are one token. As two, a model with two layers didn't put them together in 2,400 steps.

import { checkWhole, drawDifferent, drawFrom } from "./draws.js";
import { ALPHABET } from "./letters.js";
import { makeVocabulary } from "./vocabulary.js";

const DIGITS = [..."0123456789"];

export const PARTNER = {
  name: "partner",
  options: { pairs: 4, asked: 2, letters: 10 },
  make({ pairs, asked, letters }) {
    checkWhole("letters", letters, 2, 26);
    checkWhole("pairs", pairs, 1, Math.min(letters, 20));
    checkWhole("asked", asked, 1, pairs);
    const alphabet = ALPHABET.slice(0, letters);
    return {
      unit: "words",
      source: makeVocabulary([...alphabet, ...alphabet.flatMap((letter) => DIGITS.map((digit) => letter + digit)), "?"]),
      target: makeVocabulary(DIGITS),
      draw(random) {
        const couples = drawDifferent(random, alphabet, pairs).map((letter) => [letter, drawFrom(random, DIGITS)]);
        const wanted = drawDifferent(random, couples, asked);
        const source = [...couples.map(([letter, digit]) => letter + digit), "?", ...wanted.map(([letter]) => letter)];
        return { source, target: wanted.map(([, digit]) => digit) };
      },
    };
  },
};
