// What one looks at, mutes and changes while a sentence goes through the model.

/** Sees nothing and changes nothing. */
export const NOBODY = {
  of: () => ({ weights: (_, own) => own, output: () => {}, see: () => {} }),
  vectors: () => {},
};

const nameOf = (kind, layer, head) => `${kind} ${layer} ${head}`;

/** A row whose word `key` has this share; the others divide the rest as they did, or evenly if they had none. */
function withShare(own, { key, share }, seen) {
  if (seen === 1) return own; // all is on the only word, whatever one wishes
  const rest = own.reduce((sum, weight, k) => (k === key ? sum : sum + weight), 0);
  return own.map((weight, k) => {
    if (k === key) return share;
    if (rest > 0) return (weight * (1 - share)) / rest;
    return k < seen ? (1 - share) / (seen - 1) : 0;
  });
}

/**
 * Keeps what each head works with in a pass over whole sentences, and the vectors after each layer.
 *
 * `mute` lists heads as { kind, layer, head }, counted from 0; their output becomes 0. `patch` lists
 * heads with `rows`, by query: a row of weights in place of its own, or { key, share }, which gives a
 * word this share of its own row. A query without a row keeps its own.
 */
export class Watch {
  constructor({ mute = [], patch = [], sees = true } = {}) {
    this.sees = sees; // a search reads each word many times: it changes alone
    this.muted = new Set(mute.map(({ kind, layer, head }) => nameOf(kind, layer, head)));
    this.patched = new Map(patch.map(({ kind, layer, head, rows }) => [nameOf(kind, layer, head), rows]));
    this.heads = { encoder: [], decoder: [], cross: [] };
    this.after = { encoder: [], decoder: [] };
  }

  /** The watch of one layer, whose first query of this pass is the sentence's word `first`. */
  of(kind, layer, first) {
    return {
      weights: (head, own) => {
        const rows = this.patched.get(nameOf(kind, layer, head));
        return own.map((row, q) => {
          const given = rows?.[first + q];
          if (given?.share != null) return withShare(row, given, kind === "decoder" ? first + q + 1 : row.length);
          // In the decoder a row made for fewer or more words has zeros there.
          return given ? Float32Array.from(row, (_, k) => given[k] ?? 0) : row;
        });
      },
      output: (head, output) => {
        if (this.muted.has(nameOf(kind, layer, head))) for (const row of output) row.fill(0);
      },
      see: (head, matrices) => {
        if (this.sees) (this.heads[kind][layer] ??= [])[head] = matrices;
      },
    };
  }

  vectors(side, layer, x) {
    if (this.sees) (this.after[side][layer] ??= []).push(x);
  }
}
