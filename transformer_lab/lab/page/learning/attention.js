// Multi-head attention (§3.2), forward and backward, sentence by sentence.

import { Linear } from "./layers.js";
import { roundUp } from "./memory.js";

const BLOCK = 16; // columns that the product takes at a time

export class MultiHeadAttention {
  /** `root` says whether the scores are divided by √d_k. */
  constructor(memory, { w_q, w_k, w_v, w_o }, { heads, root }) {
    Object.assign(this, { memory, heads });
    this.query = new Linear(memory, w_q);
    this.key = new Linear(memory, w_k);
    this.value = new Linear(memory, w_v);
    this.output = new Linear(memory, w_o);
    this.width = w_q.weight.columns / heads; // d_k, and d_v too
    this.scale = root ? 1 / Math.sqrt(this.width) : 1;
  }

  /**
   * Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V in each head (equation 1).
   *
   * The words `x` attend to the words `y` of the same sentence. `queries` and `keys` say where the sentences begin:
   * sentence s has the rows from starts[s] up to starts[s + 1]. With `causal` no word sees a later one.
   */
  forward(x, y, queries, keys, causal) {
    const { memory, heads, width, scale } = this;
    const { operations } = memory;
    const q = this.query.forward(x);
    const k = this.key.forward(y);
    const v = this.value.forward(y);
    const joined = memory.matrix(x.rows, q.columns);
    this.saved = { q, k, v, queries, keys };
    this.weights = [];
    this.eachSentence(({ first, rows, start, seen, columns }) => {
      const weights = memory.matrix(heads * rows, columns); // one head below the other
      this.weights.push(weights);
      memory.borrow(() => {
        const turned = memory.matrix(k.columns, columns);
        operations.transpose(k.at + start * k.columns, k.columns, turned.at, columns, seen, k.columns);
        for (let head = 0; head < heads; head++) {
          operations.multiply(
            q.at + first * q.columns + head * width, q.columns, 1, turned.at + head * width * columns, columns,
            weights.at + head * rows * columns, columns, memory.zeros, 0, rows, width, columns);
        }
      });
      for (let head = 0; head < heads; head++) {
        const own = weights.at + head * rows * columns;
        operations.softmax(own, columns, rows, causal ? 1 : seen, causal ? 1 : 0, scale);
        operations.multiply(
          own, columns, 1, v.at + start * v.columns + head * width, v.columns,
          joined.at + first * joined.columns + head * width, joined.columns, memory.zeros, 0, rows, seen, width);
      }
    });
    return this.output.forward(joined);
  }

  /**
   * The gradients of x and y. In each head, with A for the weights and S for the scores:
   * dV = Aᵀ dO, dA = dO Vᵀ, dS = A ⊙ (dA − rowsum(dA ⊙ A)) / √d_k, dQ = dS K, dK = dSᵀ Q.
   */
  backward(dy) {
    const { memory, heads, width, scale } = this;
    const { operations } = memory;
    const { q, k, v } = this.saved;
    const dJoined = this.output.backward(dy);
    const dq = memory.matrix(q.rows, q.columns);
    const dk = memory.matrix(k.rows, k.columns);
    const dv = memory.matrix(v.rows, v.columns);
    this.eachSentence(({ first, rows, start, seen, columns }, sentence) => memory.borrow(() => {
      const turned = memory.matrix(v.columns, columns);
      const gradient = memory.matrix(rows, columns); // of one head's weights, then of its scores
      operations.transpose(v.at + start * v.columns, v.columns, turned.at, columns, seen, v.columns);
      for (let head = 0; head < heads; head++) {
        const queries = first * q.columns + head * width;
        const words = start * k.columns + head * width;
        const weights = this.weights[sentence].at + head * rows * columns;
        operations.multiply(
          weights, 1, columns, dJoined.at + queries, q.columns, dv.at + words, k.columns, memory.zeros, 0,
          seen, rows, width);
        operations.multiply(
          dJoined.at + queries, q.columns, 1, turned.at + head * width * columns, columns, gradient.at, columns,
          memory.zeros, 0, rows, width, columns);
        operations.softmaxBackward(weights, gradient.at, columns, rows, scale);
        operations.multiply(
          gradient.at, columns, 1, k.at + words, k.columns, dq.at + queries, q.columns, memory.zeros, 0,
          rows, seen, width);
        operations.multiply(
          gradient.at, 1, columns, q.at + queries, q.columns, dk.at + words, k.columns, memory.zeros, 0,
          seen, rows, width);
      }
    }));
    return [this.query.backward(dq), memory.add(this.key.backward(dk), this.value.backward(dv))];
  }

  /** For each sentence: its first query and how many there are, its first key and how many, and these rounded up. */
  eachSentence(use) {
    const { queries, keys } = this.saved;
    for (let s = 0; s + 1 < queries.length; s++) {
      const [first, start] = [queries[s], keys[s]];
      const seen = keys[s + 1] - start;
      use({ first, rows: queries[s + 1] - first, start, seen, columns: roundUp(seen, BLOCK) }, s);
    }
  }

  /** The weights of a sentence of the last pass: for each head, for each query, a number for each key. */
  readWeights(sentence) {
    const { keys } = this.saved;
    const { at, rows, columns } = this.weights[sentence];
    const seen = keys[sentence + 1] - keys[sentence];
    const row = (i) => this.memory.values.slice(at + i * columns, at + i * columns + seen);
    const count = rows / this.heads;
    const all = Array.from({ length: rows }, (_, i) => row(i));
    return Array.from({ length: this.heads }, (_, head) => all.slice(head * count, (head + 1) * count));
  }
}
