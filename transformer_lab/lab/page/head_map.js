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
    const { roots, rows, columns } = this;
    this.lines ??= Array.from({ length: rows }, (_, query) =>
      Float32Array.from(roots.subarray(query * columns, (query + 1) * columns), (root) => (root / 65535) ** 2));
    return this.lines;
  }
}

const toRoot = (weight) => Math.round(Math.sqrt(Math.min(1, weight)) * 65535);

/** Return a head as what can be painted, { rows, columns, bytes }: it may have its weights as numbers alone. */
export function toPicture({ rows, columns, bytes, weights }) {
  if (bytes) return { rows, columns, bytes };
  return { rows: weights.length, columns: weights[0].length, bytes: Uint8Array.from(weights.flatMap((row) => Array.from(row, toRoot)), (root) => root >> 8) };
}
