// The bilingual world as a task: English sentences and their French translations.

import { splitText, trainVocabulary } from "../vocabulary.js";
import { makeWorld } from "./grammar.js";

export const WORLD = {
  name: "world",
  title: "English to French",
  question: "Can it translate sentences about people, animals and streets?",
  example: { source: "the animal is tired", target: "l'animal est fatigué" },
  options: {},
  make: () => ({
    unit: "words",
    /** 20,000 pairs for training, if nothing else is asked. Half of the test states what training never shows, such as a tired animal. */
    split({ train, test, seed }) {
      const pairs = makeWorld({ train: train ?? 20_000, validation: 0, test, seed });
      const splitPair = ({ source, target }) => ({ source: splitText(source, "words"), target: splitText(target, "words") });
      return {
        source: trainVocabulary(pairs.train.map((pair) => pair.source)),
        target: trainVocabulary(pairs.train.map((pair) => pair.target)),
        train: pairs.train.map(splitPair),
        test: pairs.test.map(splitPair),
        notes: [],
      };
    },
  }),
};
