// Text to tokens, and the tokens that a model knows. A vocabulary is what Python's `WordTokenizer.to_json` writes.

import { normaliseText, UNKNOWN, WORD } from "../engine/words.js";

const END = 2;
/** Stands for a space in a text that is read letter by letter. */
export const SPACE_SIGN = "␣";

/** Return the tokens of a text in lower case; `unit` is "words" or "letters". */
export function splitText(text, unit) {
  const kept = normaliseText(text);
  return unit === "words" ? kept.match(WORD) ?? [] : [...kept.replace(/\s+/g, SPACE_SIGN)];
}

/** Return a vocabulary of these words; those in `joined` are written without a space before them. */
export const makeVocabulary = (words, joined = []) => ({ kind: "word", words, joined: [...joined].sort() });

/** Return a vocabulary whose tokens are written without spaces. */
export const makeJoinedVocabulary = (words) => makeVocabulary(words, words);

/** Return the tokens that occur, the most frequent first. */
export function rankTokens(sequences) {
  const counts = new Map();
  for (const sequence of sequences) {
    for (const token of sequence) counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
}

/** Return the vocabulary of texts that are read word by word, as Python's `WordTokenizer.train` does. */
export function trainVocabulary(texts) {
  const spaced = new Set();
  const sequences = texts.map(normaliseText).map((text) => [...text.matchAll(WORD)].map(({ 0: word, index }) => {
    if (index === 0 || /[\s']/.test(text[index - 1])) spaced.add(word);
    return word;
  }));
  const words = rankTokens(sequences);
  return makeVocabulary(words, words.filter((word) => !spaced.has(word)));
}

/** Return the ids of tokens and the end; `words` are the engine's `Words`. */
export const encodeTokens = (words, tokens) => [...tokens.map((token) => words.ids.get(token) ?? UNKNOWN), END];
