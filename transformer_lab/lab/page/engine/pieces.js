// Text to ids and back, by pieces of words: byte pairs (Sennrich et al. 2016).

const SPECIALS = new Set(["<pad>", "<bos>", "<eos>", "<unk>"]); // they leave no trace in a text
const WHITE_SPACE = "\\p{White_Space}"; // JavaScript's \s is another set of signs
// GPT-2's parts: an English ending, a word with the space before it, digits, signs, spaces.
const PART = new RegExp(
  `'(?:[stmd]|re|ve|ll)| ?\\p{L}+| ?\\p{N}+| ?[^${WHITE_SPACE}\\p{L}\\p{N}]+|${WHITE_SPACE}+(?!\\P{White_Space})|${WHITE_SPACE}+`,
  "gu",
);

/** A visible sign for each of the 256 bytes: itself, where it is one; else the next free sign from Ā on. */
const SIGNS = (() => {
  let free = 256;
  const isSeen = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isSeen(byte) ? byte : free++));
})();
const BYTES = new Map(SIGNS.map((sign, byte) => [sign, byte]));

/** Pieces that begin as bytes; `state` is what Python's `BPETokenizer.to_json` writes. */
export class Pieces {
  constructor({ tokenizer: { model: { vocab, merges } } }) {
    this.unit = "pieces";
    this.ids = new Map(Object.entries(vocab));
    this.pieces = [];
    for (const [piece, id] of this.ids) this.pieces[id] = piece;
    /** How early a pair was learnt: the earlier, the sooner it is merged. */
    this.ranks = new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  }

  /** A space goes before the text, so that its first word has the piece that it has elsewhere. */
  encode(text) {
    const parts = ` ${text}`.normalize("NFC").match(PART) ?? [];
    return parts.flatMap((part) => this.mergePairs(part).map((piece) => this.ids.get(piece)));
  }

  /** The pieces of a part: its bytes, whose earliest learnt pair is merged until none is known. */
  mergePairs(part) {
    const pieces = Array.from(new TextEncoder().encode(part), (byte) => SIGNS[byte]);
    for (;;) {
      let [rank, at] = [Infinity, -1];
      for (let i = 0; i + 1 < pieces.length; i++) {
        const found = this.ranks.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity;
        if (found < rank) [rank, at] = [found, i];
      }
      if (at < 0) return pieces;
      pieces.splice(at, 2, pieces[at] + pieces[at + 1]);
    }
  }

  /** The text that the pieces spell. */
  decode(ids) {
    return this.spellPieces(ids.filter((id) => !SPECIALS.has(this.pieces[id]))).replace(/^ /, "");
  }

  /** Each piece as text; one that begins a word keeps its space, half a letter is �. */
  tokens(ids) {
    return ids.map((id) => this.spellPieces([id]));
  }

  spellPieces(ids) {
    const bytes = ids.flatMap((id) => Array.from(this.pieces[id], (sign) => BYTES.get(sign)));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  }

  /** Nothing: every text has pieces. */
  unknown() {
    return [];
  }
}
