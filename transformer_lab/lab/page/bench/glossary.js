// The words of the page, for who meets them here for the first time.

import { make } from "../elements.js";

const defineTerms = ([source, target], { num_heads: heads }) => ({
  encoder: `reads the whole ${source} sentence at once. Each word becomes a vector, a list of numbers. Each layer lets the words look at each other, and changes the vectors.`,
  decoder: `writes the ${target} sentence, one word at a step. It reads the words that it has written so far, and the vectors that the encoder has made.`,
  head: `one way of looking. For each word it has a row of weights, which sum to 1: from which word it takes how much. ${heads} heads work side by side in a layer; e1.2 is the second head of the encoder's first layer.`,
  "self-attention": `${source} words look at ${source} words, or ${target} words at ${target} words. In the decoder it is masked: no word sees a later one, which is not written yet.`,
  "cross-attention": `the decoder looks at the encoder: the step that writes a ${target} word takes from the vectors of ${source} words.`,
  "query, key, value": "q says what a word looks for, k what a word offers, v what it gives. In cross-attention q comes from the decoder, k and v from the encoder. A weight is large where q and k fit: q · k multiplies them number by number and adds up.",
  softmax: "makes weights of scores: all above 0, together 1, and the largest score takes most.",
  "W_O": "the matrix behind the heads of a layer. It makes one vector of what they all pass on, and that vector is added to the word's own.",
  "alignment error": `how badly a head's strongest links agree with the gold alignment, which says which ${source} word each ${target} word translates, as the grammar of the sentences knows it. 0: all agree. 1: none does (AER).`,
  "untrained model": "one of the same shape whose numbers are still random: what its heads show, the shape shows by itself.",
  A: "what you have kept with “keep as A”: from then on everything is compared with it.",
  "to mute": "to set what a head passes on to 0. It still looks.",
  "to point": "to give a row other weights than its own.",
  push: "how much a head moves the logarithm of the odds of two words. 1 nat: the odds become 2.7 times as large.",
  "logit lens": "the last step of the model, from a vector to words, tried on a vector of an earlier layer.",
  "<bos>, <eos>, <unk>": "the beginning and the end of a sentence, as words of their own; and what is read in the place of a word that the model does not know.",
});

export class Glossary {
  constructor({ languages, engine }) {
    const entries = Object.entries(defineTerms(languages, engine.model.config));
    const list = entries.flatMap(([name, meaning]) => [make("dt", {}, name), make("dd", {}, meaning)]);
    const { unit, words } = engine.source;
    const known = unit === "pieces" ? [] : words.slice(4).sort(); // behind the special tokens
    const vocabulary = known.length ? [make("p", {}, make("b", {}, `The ${known.length} words that it reads: `), known.join(", "))] : [];
    this.element = make("details", { className: "glossary" }, make("summary", {}, "The words of this page"), make("dl", {}, ...list), ...vocabulary);
  }

  draw() {} // it never changes
}
