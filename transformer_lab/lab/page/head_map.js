// One head's weights, packed as they came until a number is read.

/** Weights (query, key): `bytes` are the upper bytes of 65535 · √weight, which are enough for a colour. */
export class HeadMap {
  constructor(rows, columns, bytes, lower, fineFrom) {
    Object.assign(this, { rows, columns, bytes, lower, fineFrom });
  }

  /** A map of these weights, row by row, with all numbers at hand. */
  static of(rows, columns, weights) {
    const roots = Uint16Array.from(weights, toRoot);
    const map = new HeadMap(rows, columns, roots.map((root) => root >> 8));
    map.whole = roots;
    return map;
  }

  /** 65535 · √weight, put together when a number is first read: most maps are only looked at. */
  get roots() {
    this.whole ??= this.unpack();
    return this.whole;
  }

  unpack() {
    const { rows, columns, bytes, lower, fineFrom } = this;
    const roots = new Uint16Array(rows * columns);
    let fine = 0; // those of each row's larger weights have a lower byte
    for (let row = 0; row < roots.length; row += columns) {
      let most = 0;
      for (let i = row; i < row + columns; i++) if (bytes[i] > most) most = bytes[i];
      const from = Math.max(1, Math.min(most, fineFrom));
      for (let i = row; i < row + columns; i++) {
        // Without a lower byte the middle is the best guess; a weight of 0 stays 0.
        roots[i] = (bytes[i] << 8) | (bytes[i] >= from ? lower[fine++] : bytes[i] && 128);
      }
    }
    return roots;
  }

  /** The weights as numbers, row by row. */
  get weights() {
    this.lines ??= this.readLines();
    return this.lines;
  }

  readLines() {
    const { roots, rows, columns } = this;
    const weights = new Float32Array(roots.length);
    for (let i = 0; i < roots.length; i++) weights[i] = (roots[i] / 65535) ** 2; // several times as fast as `from`
    return Array.from({ length: rows }, (_, query) => weights.subarray(query * columns, (query + 1) * columns));
  }
}

const toRoot = (weight) => Math.round(Math.sqrt(Math.min(1, weight)) * 65535);

/** Return a head as what can be painted, { rows, columns, bytes }: it may have its weights as numbers alone. */
export function toPicture(head) {
  const { rows, columns, bytes } = head;
  if (bytes) return { rows, columns, bytes }; // its numbers need not be put together
  const { weights } = head;
  return { rows: weights.length, columns: weights[0].length, bytes: Uint8Array.from(weights.flatMap((row) => Array.from(row, toRoot)), (root) => root >> 8) };
}
