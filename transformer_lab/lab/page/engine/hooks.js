// Hooks: what one looks at, mutes and changes while a sentence goes through the model. Python has the same seven points.

/** See nothing and change nothing. */
export const NO_HOOKS = {
  of: () => ({ weights: (_, own) => own, output: () => {}, see: () => {} }),
  residual: () => {},
};

const makeHeadKey = (kind, layer, head) => `${kind} ${layer} ${head}`;

/** Return a row of weights in which some keys have given shares; the others divide the rest as before, or evenly if they had none. */
function applyShares(own, shares, seen) {
  const given = new Map(shares.map(({ key, share }) => [key, share]));
  const total = shares.reduce((sum, { share }) => sum + share, 0);
  const others = seen - given.size;
  if (seen === 1 || (others === 0 && total === 0)) return own; // all is on the only word, whatever one wishes
  const scale = total > 1 || others === 0 ? 1 / total : 1; // rounded shares may be more than the whole
  const left = 1 - scale * total;
  const rest = own.reduce((sum, weight, k) => (given.has(k) ? sum : sum + weight), 0);
  return own.map((weight, k) => {
    if (given.has(k)) return scale * given.get(k);
    if (rest > 0) return (weight * left) / rest;
    return k < seen ? left / others : 0;
  });
}

/**
 * Keep what each head works with in a pass over whole sentences, and the vectors that leave each layer.
 *
 * Of each head: query, key, value, scores, weights and output. Of each layer: residual, one Vectors a pass.
 *
 * `mute` lists heads as { kind, layer, head }, counted from 0; their output becomes 0. `patch` lists
 * heads with `rows`, by query: a row of weights in place of its own, or { shares } with { key, share },
 * which give words these shares of its own row. A query without a row keeps its own.
 */
export class Hooks {
  constructor({ mute = [], patch = [], sees = true } = {}) {
    this.sees = sees; // a search reads each word many times: it changes alone
    this.muted = new Set(mute.map(({ kind, layer, head }) => makeHeadKey(kind, layer, head)));
    this.patched = new Map(patch.map(({ kind, layer, head, rows }) => [makeHeadKey(kind, layer, head), rows]));
    this.heads = { encoder: [], decoder: [], cross: [] };
    this.residuals = { encoder: [], decoder: [] };
  }

  /** The hooks of one layer, whose first query of this pass is the sentence's word `first`. */
  of(kind, layer, first) {
    return {
      weights: (head, own) => {
        const rows = this.patched.get(makeHeadKey(kind, layer, head));
        return own.map((row, q) => {
          const given = rows?.[first + q];
          if (given?.shares) return applyShares(row, given.shares, kind === "decoder" ? first + q + 1 : row.length);
          // In the decoder a row made for fewer or more words has zeros there.
          return given ? Float32Array.from(row, (_, k) => given[k] ?? 0) : row;
        });
      },
      output: (head, output) => {
        if (this.muted.has(makeHeadKey(kind, layer, head))) for (const row of output) row.fill(0);
      },
      see: (head, collect) => {
        if (this.sees) (this.heads[kind][layer] ??= [])[head] = collect();
      },
    };
  }

  residual(side, layer, x) {
    if (this.sees) (this.residuals[side][layer] ??= []).push(x);
  }
}
