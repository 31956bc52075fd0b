// One head's weights, packed as they came until a number is read.

/** Weights (query, key): `bytes` are the upper bytes of 65535 · √weight, which are enough for a colour. */
export class HeadMap {
  constructor(rows, columns, bytes, lower, fineFrom) {
    Object.assign(this, { rows, columns, bytes, lower, fineFrom });
  }

  /** A map of these weights, row by row, with all numbers at hand. */
  static of(rows, columns, weights) {
    const roots = Uint16Array.from(weights, (weight) => Math.round(Math.sqrt(Math.min(1, weight)) * 65535));
    const map = new HeadMap(rows, columns, Uint8Array.from(roots, (root) => root >> 8));
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

  at(query, key) {
    return (this.roots[query * this.columns + key] / 65535) ** 2;
  }

  row(query) {
    return Array.from({ length: this.columns }, (_, key) => this.at(query, key));
  }

  column(key) {
    return Array.from({ length: this.rows }, (_, query) => this.at(query, key));
  }

  /** The strongest links { query, key, weight } of the whole map, without sorting all of it. */
  findStrongestLinks(most) {
    const { roots, columns } = this;
    const bins = new Uint32Array(256);
    for (const root of roots) bins[root >> 8]++;
    let floor = 255;
    for (let seen = bins[255]; floor > 1 && seen < most; ) seen += bins[--floor];
    const found = [];
    roots.forEach((root, i) => {
      if (root >> 8 >= floor) found.push(i); // whose upper byte is 0 weighs nothing
    });
    found.sort((a, b) => roots[b] - roots[a] || a - b);
    return found.slice(0, most).map((i) => {
      const [query, key] = [Math.floor(i / columns), i % columns];
      return { query, key, weight: this.at(query, key) };
    });
  }
}
