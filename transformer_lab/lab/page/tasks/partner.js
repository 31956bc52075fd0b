// Find the partner: each letter has a digit, and the task is to tell the digits of those that are asked for.

import { checkWhole, drawDifferent, drawFrom } from "./draws.js";
import { ALPHABET } from "./letters.js";
import { makeVocabulary } from "./vocabulary.js";

const DIGITS = [..."0123456789"];

export const PARTNER = {
  name: "partner",
  title: "Find the partner",
  question: "Each letter has a digit as its partner. Can it find the partners of the letters after the question mark?",
  example: { source: "a3 k7 m1 ? m a", target: "1 3" },
  options: { pairs: 4, asked: 2 },
  make({ pairs, asked }) {
    checkWhole("pairs", pairs, 1, 20);
    checkWhole("asked", asked, 1, pairs);
    return {
      unit: "letters",
      source: makeVocabulary([...ALPHABET, ...DIGITS, "?"], DIGITS),
      target: makeVocabulary(DIGITS),
      draw(random) {
        const partners = new Map(drawDifferent(random, ALPHABET, pairs).map((letter) => [letter, drawFrom(random, DIGITS)]));
        const wanted = drawDifferent(random, [...partners.keys()], asked);
        return { source: [...partners].flat().concat("?", wanted), target: wanted.map((letter) => partners.get(letter)) };
      },
    };
  },
};
