// The bilingual world as a task: English sentences and their French translations.

import { makeVocabulary, rankTokens } from "../vocabulary.js";
import { makeWorld } from "./grammar.js";

export const WORLD = {
  name: "world",
  options: {},
  make: () => ({
    unit: "words",
    /** 20,000 pairs for training, if nothing else is asked. Half of the test states what training never shows, such as a tired animal. */
    split({ train, test, seed }) {
      const pairs = makeWorld({ train: train ?? 20_000, validation: 0, test, seed });
      const takeTokens = ({ sourceTokens, targetTokens }) => ({ source: sourceTokens, target: targetTokens });
      const trained = pairs.train.map(takeTokens);
      return {
        source: makeVocabulary(rankTokens(trained.map(({ source }) => source)), [",", "?"]),
        target: makeVocabulary(rankTokens(trained.map(({ target }) => target)), [","]), // a space stands before a French question mark
        train: trained,
        test: pairs.test.map(takeTokens),
        notes: [],
      };
    },
  }),
};
