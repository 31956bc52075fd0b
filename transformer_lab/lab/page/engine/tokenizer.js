// The tokenizer of a file: whole words, or pieces of words.

import { Pieces } from "./pieces.js";
import { Words } from "./words.js";

const KINDS_OF_TOKENIZER = { word: Words, bpe: Pieces };

/** Make the tokenizer, Words or Pieces, of `state`, the content of a tokenizer's file, parsed. */
export function makeTokenizer(state) {
  const Kind = KINDS_OF_TOKENIZER[state.kind];
  if (!Kind) throw new Error(`the tokenizer is of kind ${state.kind}; expected word or bpe`);
  return new Kind(state);
}
