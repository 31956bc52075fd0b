// The encoder-decoder of Figure 1 for a batch of sentences, forward and backward.

import { computeSinusoid } from "../engine/positions.js";
import { makeRandom } from "../engine/untrained.js";
import { MultiHeadAttention } from "./attention.js";
import { AddNorm, Dropout, FeedForward, LayerNorm } from "./layers.js";
import { Memory, roundUp } from "./memory.js";
import { Parameters } from "./parameters.js";

/** Ids to vectors × √d_model (§3.4), with their positions (§3.5). */
class Embedding {
  constructor(memory, table, { positions, width, learned }) {
    Object.assign(this, { memory, table, positions, width, learned });
  }

  forward({ ids, starts }) {
    const { memory, table, positions, width, learned } = this;
    const x = memory.matrix(ids.length, width);
    const { values } = memory;
    this.saved = { ids, starts };
    this.eachWord((i, id, position) => {
      const waves = positions === "sinusoidal" ? computeSinusoid(position, width) : null;
      for (let k = 0; k < width; k++) {
        let value = values[table.at + id * width + k] * Math.sqrt(width);
        if (waves) value += waves[k];
        if (learned) value += values[learned.at + position * width + k];
        values[x.at + i * width + k] = value;
      }
    });
    return x;
  }

  backward(dx) {
    const { table, width, learned } = this;
    const { values } = this.memory;
    this.eachWord((i, id, position) => {
      for (let k = 0; k < width; k++) {
        const value = values[dx.at + i * width + k];
        values[table.gradient + id * width + k] += value * Math.sqrt(width);
        if (learned) values[learned.gradient + position * width + k] += value;
      }
    });
  }

  eachWord(use) {
    const { ids, starts } = this.saved;
    for (let s = 0; s + 1 < starts.length; s++) {
      for (let i = starts[s]; i < starts[s + 1]; i++) use(i, ids[i], i - starts[s]);
    }
  }
}

/** Logits = x Eᵀ + b, where E is the target's embedding (§3.4). */
class Output {
  constructor(memory, table, bias) {
    Object.assign(this, { memory, table, bias });
  }

  forward(x) {
    const { memory, table, bias } = this;
    const logits = memory.matrix(x.rows, table.rows);
    this.x = x;
    memory.borrow(() => {
      const turned = memory.matrix(table.columns, table.rows);
      memory.operations.transpose(table.at, table.columns, turned.at, turned.columns, table.rows, table.columns);
      memory.operations.multiply(
        x.at, x.columns, 1, turned.at, turned.columns, logits.at, logits.columns, bias.at, 0,
        x.rows, x.columns, logits.columns);
    });
    return logits;
  }

  backward(dLogits) {
    const { memory, table, bias, x } = this;
    const { operations } = memory;
    const dx = memory.matrix(x.rows, x.columns);
    operations.multiply(
      dLogits.at, 1, dLogits.columns, x.at, x.columns, table.gradient, x.columns, table.gradient, x.columns,
      dLogits.columns, x.rows, x.columns);
    operations.addRows(dLogits.at, bias.gradient, x.rows, dLogits.columns);
    operations.multiply(
      dLogits.at, dLogits.columns, 1, table.at, table.columns, dx.at, dx.columns, memory.zeros, 0,
      x.rows, dLogits.columns, x.columns);
    return dx;
  }
}

/** A layer of the encoder: attention among the source's words, then the feed-forward layer. */
class EncoderLayer {
  constructor(memory, parameters, options) {
    this.attention = new MultiHeadAttention(memory, parameters.self_attention, options);
    this.feedForward = new FeedForward(memory, parameters.feed_forward);
    this.addNorms = [1, 2].map((i) => new AddNorm(memory, parameters[`add_norm_${i}`] ?? {}, options.around()));
    this.memory = memory;
  }

  forward(x, starts) {
    const [first, second] = this.addNorms;
    const y = first.forward(x, (words) => this.attention.forward(words, words, starts, starts, false));
    return second.forward(y, (words) => this.feedForward.forward(words));
  }

  backward(dy) {
    const [first, second] = this.addNorms;
    const dx = second.backward(dy, (gradient) => this.feedForward.backward(gradient));
    return first.backward(dx, (gradient) => this.memory.add(...this.attention.backward(gradient)));
  }
}

/** A layer of the decoder: attention among the target's words, then to the source's, then the feed-forward layer. */
class DecoderLayer {
  constructor(memory, parameters, options) {
    this.causal = options.causal;
    this.attention = new MultiHeadAttention(memory, parameters.self_attention, options);
    this.cross = new MultiHeadAttention(memory, parameters.cross_attention, options);
    this.feedForward = new FeedForward(memory, parameters.feed_forward);
    this.addNorms = [1, 2, 3].map((i) => new AddNorm(memory, parameters[`add_norm_${i}`] ?? {}, options.around()));
    this.memory = memory;
  }

  forward(x, encoded, targets, sources) {
    const [first, second, third] = this.addNorms;
    const y = first.forward(x, (words) => this.attention.forward(words, words, targets, targets, this.causal));
    const z = second.forward(y, (words) => this.cross.forward(words, encoded, targets, sources, false));
    return third.forward(z, (words) => this.feedForward.forward(words));
  }

  /** The gradients of x and of what the encoder gave. */
  backward(dy) {
    const [first, second, third] = this.addNorms;
    let dEncoded = null;
    const dz = third.backward(dy, (gradient) => this.feedForward.backward(gradient));
    const dx = second.backward(dz, (gradient) => {
      const [own, other] = this.cross.backward(gradient);
      dEncoded = other;
      return own;
    });
    return [first.backward(dx, (gradient) => this.memory.add(...this.attention.backward(gradient))), dEncoded];
  }
}

/** A model that can be trained; `config` is as `completeModel` gives it. */
export class TrainableTransformer {
  constructor(config, operations, seed = 0) {
    const { d_model: width, num_heads: heads, positions, norm, dropout, residual, causal_mask: causal, root } = config;
    const widest = Math.max(width, config.d_ff, roundUp(config.target_vocab_size), roundUp(config.max_length, 16));
    this.config = config;
    this.memory = new Memory(operations, widest);
    this.parameters = new Parameters(this.memory, config);
    this.parameters.initialise(seed);
    const { nested } = this.parameters;
    const random = makeRandom(seed);
    this.dropouts = [];
    const makeDropout = () => {
      this.dropouts.push(new Dropout(this.memory, dropout, random));
      return this.dropouts.at(-1);
    };
    const options = { heads, root, causal, around: () => ({ norm, residual, dropout: makeDropout() }) };
    const stack = (side, Layer) =>
      Array.from({ length: config[`num_${side}_layers`] }, (_, i) => new Layer(this.memory, nested[side].layers[i], options));
    this.sides = Object.fromEntries(["source", "target"].map((side) => [side, {
      embedding: new Embedding(this.memory, nested[`${side}_embedding`].weight, {
        positions, width, learned: nested[`${side}_positions`]?.table.weight,
      }),
      dropout: makeDropout(),
    }]));
    this.encoder = stack("encoder", EncoderLayer);
    this.decoder = stack("decoder", DecoderLayer);
    this.finalNorms = norm === "pre"
      ? { encoder: new LayerNorm(this.memory, nested.encoder.final_norm), decoder: new LayerNorm(this.memory, nested.decoder.final_norm) }
      : null;
    this.output = new Output(this.memory, nested.target_embedding.weight, nested.output.bias);
  }

  /** One vector for each word of the sources; `source` is { ids, starts }, the words of all sentences one behind the other. */
  encode(source) {
    let x = this.sides.source.dropout.forward(this.sides.source.embedding.forward(source));
    for (const layer of this.encoder) x = layer.forward(x, source.starts);
    return this.finalNorms ? this.finalNorms.encoder.forward(x) : x;
  }

  /** The decoder's last vector of each word of the targets. */
  decode(target, encoded, sources) {
    let x = this.sides.target.dropout.forward(this.sides.target.embedding.forward(target));
    for (const layer of this.decoder) x = layer.forward(x, encoded, target.starts, sources);
    return this.finalNorms ? this.finalNorms.decoder.forward(x) : x;
  }

  /** The logits of the word after each word of the targets. */
  forward(source, target) {
    return this.output.forward(this.decode(target, this.encode(source), source.starts));
  }

  /** Add to the gradients of all parameters what comes of the gradient of the logits. */
  backward(dLogits) {
    let dx = this.output.backward(dLogits);
    if (this.finalNorms) dx = this.finalNorms.decoder.backward(dx);
    let dEncoded = null;
    for (const layer of this.decoder.toReversed()) {
      const [own, other] = layer.backward(dx);
      dx = own;
      dEncoded = dEncoded ? this.memory.add(dEncoded, other) : other;
    }
    this.sides.target.embedding.backward(this.sides.target.dropout.backward(dx));
    if (this.finalNorms) dEncoded = this.finalNorms.encoder.backward(dEncoded);
    for (const layer of this.encoder.toReversed()) dEncoded = layer.backward(dEncoded);
    this.sides.source.embedding.backward(this.sides.source.dropout.backward(dEncoded));
  }

  /** Whether dropout is on. */
  setTraining(on) {
    for (const dropout of this.dropouts) dropout.on = on;
  }
}
