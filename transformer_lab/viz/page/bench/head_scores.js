// What heads do in many sentences, in numbers, beside a model of the same shape that has learnt nothing.

import { number } from "../text.js";
import { shortName, TITLES } from "./names.js";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const SELF = ["encoder", "decoder"];

/**
 * What a head can be scored by: `of` a map and the gold links [source word, written word] of its
 * sentence. A high score is a dark dot, or with `isLow` a low one.
 */
export const SCORES = {
  previous: {
    name: "previous token", kinds: SELF, means: "Mean weight on the token just before",
    of: (weights) => mean(weights.slice(1).map((row, q) => row[q])),
  },
  distance: {
    name: "mean distance", kinds: SELF, isLow: true, means: "Mean tokens from query to key; dark is near",
    of: (weights) => mean(weights.map((row, q) => row.reduce((sum, weight, k) => sum + weight * Math.abs(q - k), 0))),
  },
  entropy: {
    name: "entropy", kinds: [...SELF, "cross"], isLow: true, means: "How far a row spreads its weight, in nats; dark is sharp",
    of: (weights) => mean(weights.map((row) => row.reduce((sum, weight) => sum - (weight > 0 ? weight * Math.log(weight) : 0), 0))),
  },
  gold: {
    name: "gold alignment", kinds: ["cross"], means: "1 − AER: 1 where each aligned word looks most at its gold word",
    of: goldAgreement,
  },
};

/** 2 |found ∩ gold| / (|found| + |gold|), where each aligned step is linked to its largest weight (Och and Ney 2003). */
function goldAgreement(weights, gold) {
  const steps = new Set(gold.map(([, step]) => step));
  const found = new Set([...steps].map((step) => `${weights[step].indexOf(Math.max(...weights[step]))} ${step}`));
  return (2 * gold.filter(([source, step]) => found.has(`${source} ${step}`)).length) / (steps.size + gold.length);
}

/** The scores of all heads over many sentences, in the model and in an untrained one. */
export class HeadScores {
  /** `examples` are sentences, their right translations, and the gold links between them, or null. */
  constructor(engine, examples) {
    Object.assign(this, { engine, examples, done: 0, sums: { trained: new Map(), untrained: new Map() } });
    this.names = Object.keys(SCORES).filter((name) => examples.length && (name !== "gold" || examples.every(([, , gold]) => gold)));
  }

  get isDone() {
    return this.done === this.examples.length;
  }

  /** Look at all sentences, if nobody does yet, one at a time; `tell` is called now and then. */
  async look(tell) {
    if (this.isLooking) return;
    this.isLooking = true;
    const models = Object.entries({ trained: this.engine, untrained: this.engine.untrained() });
    for (const [source, target, gold] of this.examples) {
      const written = [...this.engine.target.encode(target), this.engine.model.config.eos_id];
      for (const [which, engine] of models) {
        this.add(this.sums[which], engine.read(source, written).maps, gold);
        await new Promise((done) => setTimeout(done)); // other work is first
      }
      this.done++;
      if (this.isDone || this.done % 10 === 0) tell();
    }
  }

  add(sums, maps, gold) {
    for (const name of this.names) {
      for (const kind of SCORES[name].kinds) {
        maps[kind].forEach((heads, layer) => heads.forEach((weights, head) => {
          const key = `${name} ${shortName({ kind, layer, head })}`;
          sums.set(key, (sums.get(key) ?? 0) + SCORES[name].of(weights, gold));
        }));
      }
    }
  }

  /** A head's mean, or null if it has none, in the model or with `which` "untrained" without learning. */
  value(name, head, which = "trained") {
    const sum = this.sums[which].get(`${name} ${shortName(head)}`);
    return sum == null || !this.isDone ? null : sum / this.examples.length;
  }

  /** All values of a score, of heads of one kind if it is given. */
  values(name, which, kind = "") {
    const start = `${name} ${kind.slice(0, 1)}`;
    const found = [...this.sums[which]].filter(([key]) => key.startsWith(start));
    return found.map(([, sum]) => sum / this.examples.length);
  }

  /** How dark a value is, from 0 to 1. */
  share(name, value) {
    const most = Math.max(...this.values(name, "trained"), ...this.values(name, "untrained"));
    return SCORES[name].isLow ? 1 - value / most : value;
  }

  /** What the score means, and from where to where it goes, in this model and in an untrained one. */
  note(name) {
    const { examples, done, isDone } = this;
    if (!isDone) return `Reading with the model and with an untrained one: ${done} of ${examples.length} sentences …`;
    const range = (which, kind) => {
      const values = this.values(name, which, kind);
      return `${number(Math.min(...values))} to ${number(Math.max(...values))}`;
    };
    const { means, kinds } = SCORES[name];
    const ranges = kinds.map((kind) => `${TITLES[kind]}: ${range("trained", kind)}, untrained ${range("untrained", kind)}.`);
    return `${means}, in ${examples.length} sentences. At the foot of each head: a model of this shape that has learnt nothing. ${ranges.join(" ")}`;
  }
}
