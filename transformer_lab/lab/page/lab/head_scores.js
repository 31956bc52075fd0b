// Head scores over many sentences, beside those of an untrained model of the same shape.
// The figure of the model colours its dots by them. What they are called, and which end is good, comes from
// the table `SCORES` in `attention/scores.py`; here are its formulas once more.

import { toCode } from "./names.js";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const sum = (row, term) => row.reduce((total, weight, key) => total + term(weight, key), 0);

/**
 * The formulas of `attention/scores.py`, by their names there: of a head's rows, and for "aer" of the links
 * [source word, written word]. NaN where a map has too few rows.
 */
export const FORMULAS = {
  entropy: (weights) => mean(weights.map((row) => sum(row, (weight) => (weight > 0 ? -weight * Math.log(weight) : 0)))),
  mean_distance: (weights) => mean(weights.map((row, query) => sum(row, (weight, key) => weight * Math.abs(query - key)))),
  previous_token: (weights) => mean(weights.slice(1).map((row, query) => row[query])),
  first_token: (weights) => mean(weights.slice(1).map((row) => row[0])),
  aer: alignmentErrorRate,
};

/** 1 − 2 |found ∩ gold| / (|found| + |gold|), where each aligned step is linked to its strongest key (Och and Ney 2003). */
function alignmentErrorRate(weights, gold) {
  const links = new Set(gold.map(([source, step]) => `${source} ${step}`));
  const steps = new Set(gold.map(([, step]) => step));
  const found = [...steps].map((step) => `${weights[step].indexOf(Math.max(...weights[step]))} ${step}`);
  return 1 - (2 * found.filter((link) => links.has(link)).length) / (found.length + links.size);
}

/** The mean scores of all heads over many sentences, in the model and in an untrained one. */
export class HeadScores {
  /**
   * `examples` are [sentence, its right translation, the gold links between them or null]; `table` has a
   * row { name, label, best, means, kinds, needs } for each score, as `SCORES` in Python.
   */
  constructor(engine, examples, table) {
    Object.assign(this, { engine, examples, title: `over ${examples.length} sentences`, hasUntrained: true, done: 0, sums: { trained: new Map(), untrained: new Map() } });
    const isAvailable = ({ name, needs }) => name in FORMULAS && (!needs || examples.every(([, , gold]) => gold));
    /** The rows of the table that these examples allow, by name. */
    this.table = new Map((examples.length ? table.filter(isAvailable) : []).map((row) => [row.name, row]));
  }

  get isDone() {
    return this.done === this.examples.length;
  }

  /** Read all sentences with both models, unless that has begun already; `onProgress` is called every ten sentences. */
  async readAll(onProgress) {
    if (this.isReading) return;
    this.isReading = true;
    const models = Object.entries({ trained: this.engine, untrained: this.engine.makeUntrained() });
    for (const [source, target, gold] of this.examples) {
      const written = [...this.engine.target.encode(target), this.engine.model.config.eos_id];
      for (const [which, engine] of models) {
        this.addScores(this.sums[which], engine.read(source, written).maps, gold);
        await new Promise((done) => setTimeout(done)); // other work is first
      }
      this.done++;
      if (this.isDone || this.done % 10 === 0) onProgress();
    }
  }

  /** Add the scores of one sentence's maps to `sums`. */
  addScores(sums, maps, gold) {
    for (const { name, kinds } of this.table.values()) {
      for (const kind of kinds) {
        maps[kind].forEach((heads, layer) => heads.forEach((weights, head) => {
          const key = `${name} ${toCode({ kind, layer, head })}`;
          sums.set(key, (sums.get(key) ?? 0) + FORMULAS[name](weights, gold));
        }));
      }
    }
  }

  /** A head's mean score in the model, or in the untrained one; null if there is none (yet). */
  getMeanScore(name, head, which = "trained") {
    const total = this.sums[which].get(`${name} ${toCode(head)}`);
    return Number.isFinite(total) && this.isDone ? total / this.examples.length : null;
  }

  /** All scores by this name of heads of one kind, in the model or in the untrained one. */
  listValues(name, kind, which = "trained") {
    const found = [...this.sums[which]].filter(([key, total]) => key.startsWith(`${name} ${kind[0]}`) && Number.isFinite(total));
    return found.map(([, total]) => total / this.examples.length);
  }
}
