// Training, step by step, and what the model can do so far.

import { Adam, computeRate } from "./adam.js";
import { completeModel, completeTraining } from "./config.js";
import { crossEntropy } from "./loss.js";
import { TrainableTransformer } from "./transformer.js";

/** The sentences' ids one behind the other, and where each one begins. */
function packSentences(sentences) {
  const starts = new Int32Array(sentences.length + 1);
  sentences.forEach((ids, i) => (starts[i + 1] = starts[i] + ids.length));
  const ids = new Int32Array(starts.at(-1));
  sentences.forEach((sentence, i) => ids.set(sentence, starts[i]));
  return { ids, starts };
}

export class Learner {
  /** `config` and `training` are what `completeModel` and `completeTraining` take. */
  constructor(config, training, operations, seed = 0) {
    this.config = completeModel(config);
    this.training = completeTraining(training);
    this.model = new TrainableTransformer(this.config, operations, seed);
    this.adam = new Adam(this.model.parameters, this.training);
  }

  get steps() {
    return this.adam.steps;
  }

  /**
   * The loss of a batch in nats a word, with the gradients of all parameters.
   *
   * A pair is { source, target }: ids that end with eos.
   */
  computeGradients(pairs) {
    const { model, config, training } = this;
    return model.memory.borrow(() => {
      const logits = this.readTargets(pairs);
      const { ids } = packSentences(pairs.map(({ target }) => target));
      const loss = crossEntropy(model.memory, logits, ids, config.target_vocab_size, training.smoothing);
      model.backward(logits);
      return loss;
    });
  }

  /** The logits of each target's words, which are read with teacher forcing. */
  readTargets(pairs) {
    const { bos_id: bos } = this.config;
    const source = packSentences(pairs.map((pair) => pair.source));
    return this.model.forward(source, packSentences(pairs.map(({ target }) => [bos, ...target.slice(0, -1)])));
  }

  /** Learn from one batch; returns its loss before the step, in 32 bits: in 64, browsers' logarithms differ in the last one. */
  step(pairs) {
    this.model.setTraining(true);
    const loss = this.computeGradients(pairs);
    this.adam.step(computeRate(this.steps + 1, this.training));
    return Math.fround(loss);
  }

  /** How many targets are right word by word when each word is told the right ones before it. */
  countRight(pairs) {
    this.model.setTraining(false);
    return this.model.memory.borrow(() => {
      const best = this.findBest(this.readTargets(pairs));
      let at = 0;
      let right = 0;
      for (const { target } of pairs) {
        right += target.every((id, i) => best[at + i] === id);
        at += target.length;
      }
      return right;
    });
  }

  /** The weights of every head while one pair is read: kind → layer → head → query → a number for each key. */
  look(pair) {
    const { model } = this;
    model.setTraining(false);
    return model.memory.borrow(() => {
      this.readTargets([pair]);
      return {
        encoder: model.encoder.map(({ attention }) => attention.readWeights(0)),
        decoder: model.decoder.map(({ attention }) => attention.readWeights(0)),
        cross: model.decoder.map(({ cross }) => cross.readWeights(0)),
      };
    });
  }

  /** The likeliest id of each row of the logits. */
  findBest({ at, rows, columns }) {
    const { values } = this.model.memory;
    return Array.from({ length: rows }, (_, i) => {
      let best = 0;
      for (let k = 1; k < this.config.target_vocab_size; k++) {
        if (values[at + i * columns + k] > values[at + i * columns + best]) best = k;
      }
      return best;
    });
  }

  /**
   * Let the model write the targets of these sources itself, greedily, each at most `limit` words long; ids with eos.
   *
   * Every word is written with a new pass over all before it: slower than with a cache, and right for a decoder
   * without a causal mask, too, whose earlier words see the later ones.
   */
  write(sources, limit) {
    const { model, config: { bos_id: bos, eos_id: eos } } = this;
    const { memory } = model;
    model.setTraining(false);
    const written = sources.map(() => []);
    memory.borrow(() => {
      const source = packSentences(sources);
      const encoded = model.encode(source);
      for (let length = 0; length < limit; length++) {
        const open = written.flatMap((ids, i) => (ids.at(-1) === eos ? [] : [i]));
        if (!open.length) break;
        memory.borrow(() => {
          const target = packSentences(open.map((i) => [bos, ...written[i]]));
          const best = this.findBest(this.readLast(target, ...this.choose(encoded, source.starts, open)));
          open.forEach((i, k) => written[i].push(best[k]));
        });
      }
    });
    return written;
  }

  /** The vectors of some of the sentences alone. */
  choose(encoded, starts, open) {
    const { memory } = this.model;
    if (open.length === starts.length - 1) return [encoded, starts];
    const kept = new Int32Array(open.length + 1);
    open.forEach((i, k) => (kept[k + 1] = kept[k] + starts[i + 1] - starts[i]));
    const chosen = memory.matrix(kept.at(-1), encoded.columns);
    open.forEach((i, k) => {
      const from = encoded.at + starts[i] * encoded.columns;
      memory.values.copyWithin(chosen.at + kept[k] * encoded.columns, from, encoded.at + starts[i + 1] * encoded.columns);
    });
    return [chosen, kept];
  }

  /** The logits of the word after each target. */
  readLast(target, encoded, sources) {
    const { memory } = this.model;
    const x = this.model.decode(target, encoded, sources);
    const last = memory.matrix(target.starts.length - 1, x.columns);
    for (let s = 0; s < last.rows; s++) {
      const from = x.at + (target.starts[s + 1] - 1) * x.columns;
      memory.values.copyWithin(last.at + s * x.columns, from, from + x.columns);
    }
    return this.model.output.forward(last);
  }
}
