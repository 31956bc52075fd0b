// Text to ids and back, by whole words.

const SPECIAL = ["<pad>", "<bos>", "<eos>", "<unk>"]; // their ids are their places
export const UNKNOWN = 3;
// An elided form (l', qu'), a word with its inner apostrophes and hyphens, or one sign.
const LETTER = "[\\p{L}\\p{N}_]";
export const WORD = new RegExp(
  `(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=${LETTER})|${LETTER}+(?:['-]${LETTER}+)*|[^\\s\\p{L}\\p{N}_]`,
  "gu",
);

/** NFC, lower case, plain apostrophes, and no full stop or exclamation mark at the end. */
export function normaliseText(text) {
  let kept = text.normalize("NFC").toLowerCase().replaceAll("’", "'").trim();
  while (/[.!]$/.test(kept)) kept = kept.replace(/[.!]+$/, "").trimEnd(); // as in "so . . ." too
  return kept;
}

/** One id for each word; `state` is what Python's `WordTokenizer.to_json` writes. */
export class Words {
  constructor({ words, joined }) {
    this.unit = "words";
    this.words = [...SPECIAL, ...words];
    this.joined = new Set(joined);
    this.ids = new Map(this.words.map((word, id) => [word, id]));
  }

  encode(text) {
    return this.split(text).map((word) => this.ids.get(word) ?? UNKNOWN);
  }

  /** The words with spaces between them; none after l' and its like. */
  decode(ids) {
    let text = "";
    let before = "";
    for (const word of this.tokens(ids.filter((id) => id >= UNKNOWN))) {
      text += text && !this.joined.has(word) && !before.endsWith("'") ? ` ${word}` : word;
      before = word;
    }
    return text;
  }

  /** One word for each id. */
  tokens(ids) {
    return ids.map((id) => this.words[id]);
  }

  /** The words of a text that have no id. */
  unknown(text) {
    return this.split(text).filter((word) => !this.ids.has(word));
  }

  split(text) {
    return normaliseText(text).match(WORD) ?? [];
  }
}
