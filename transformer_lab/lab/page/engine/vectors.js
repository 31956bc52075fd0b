// Vectors, one a row, and what the layers do with them.

/** `rows` vectors of `columns` numbers, one behind the other. */
export class Vectors {
  constructor(rows, columns, values = new Float32Array(rows * columns)) {
    this.rows = rows;
    this.columns = columns;
    this.values = values;
  }

  row(i) {
    return this.values.subarray(i * this.columns, (i + 1) * this.columns);
  }

  /** The first `rows` of the vectors, as a view. */
  first(rows) {
    return new Vectors(rows, this.columns, this.values.subarray(0, rows * this.columns));
  }
}

/** Return the sums of the vectors of `a` and `b`, pair by pair. */
export function addVectors(a, b) {
  const sum = new Vectors(a.rows, a.columns);
  for (let i = 0; i < sum.values.length; i++) sum.values[i] = a.values[i] + b.values[i];
  return sum;
}

/** Return the vectors of `a` and then those of `b`. */
export function stackVectors(a, b) {
  const values = new Float32Array(a.values.length + b.values.length);
  values.set(a.values);
  values.set(b.values, a.values.length);
  return new Vectors(a.rows + b.rows, b.columns, values);
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** x Wᵀ + b for each vector x; W is (out, in), as PyTorch keeps it. A layer may have a faster way, `multiply`. */
export function linear(x, { weight, bias, multiply }) {
  if (multiply) return multiply(x);
  const y = new Vectors(x.rows, weight.rows);
  for (let i = 0; i < x.rows; i++) {
    const from = x.row(i);
    const to = y.row(i);
    for (let j = 0; j < to.length; j++) to[j] = dot(from, weight.row(j)) + bias[j];
  }
  return y;
}

/** Each vector with mean 0 and variance 1, then × weight + bias (Ba et al. 2016). */
export function layerNorm(x, { weight, bias }, epsilon = 1e-5) {
  const y = new Vectors(x.rows, x.columns);
  for (let i = 0; i < x.rows; i++) {
    const from = x.row(i);
    const to = y.row(i);
    let sum = 0;
    for (let j = 0; j < from.length; j++) sum += from[j];
    const mean = sum / from.length;
    let squares = 0;
    for (let j = 0; j < from.length; j++) squares += (from[j] - mean) * (from[j] - mean);
    const scale = 1 / Math.sqrt(squares / from.length + epsilon);
    for (let j = 0; j < to.length; j++) to[j] = (from[j] - mean) * scale * weight[j] + bias[j];
  }
  return y;
}

/** The logarithm of Σ exp(score); −∞ where all scores are −∞. */
function logSumExp(scores) {
  let most = -Infinity;
  for (const score of scores) if (score > most) most = score;
  if (most === -Infinity) return most;
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - most);
  return most + Math.log(sum);
}

/** exp(score) / Σ exp(score); zeros where all scores are −∞. */
export function softmax(scores) {
  let most = -Infinity;
  for (let i = 0; i < scores.length; i++) if (scores[i] > most) most = scores[i];
  const shares = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - most)));
  let sum = 0;
  for (let i = 0; i < shares.length; i++) sum += shares[i];
  for (let i = 0; i < shares.length; i++) shares[i] /= sum || 1;
  return shares;
}

export function logSoftmax(scores) {
  const log = logSumExp(scores);
  return scores.map((score) => score - log);
}

const erf = (x) => {
  // Abramowitz and Stegun 7.1.26: off by 1.5e-7 at most.
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const factors = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const sum = factors.reduce((so_far, factor) => (so_far + factor) * t, 0);
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
};

/** What stands between the two projections of the feed-forward layer. */
export const activations = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  silu: (x) => x / (1 + Math.exp(-x)),
};
