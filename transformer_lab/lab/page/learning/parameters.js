// A model's parameters in memory, in the order of a file of weights, with a gradient and Adam's two moments each.

import { Vectors } from "../engine/vectors.js";
import { initialiseTensors } from "../engine/untrained.js";
import { roundUp } from "./memory.js";

const isEmbedding = (name) => name.includes("embedding") || name.includes("positions");

/** Names and shapes of a linear layer: its matrix as PyTorch keeps it, (out, in), and its bias. */
const linearShapes = (name, rows, columns) => ({ [`${name}.weight`]: [columns, rows], [`${name}.bias`]: [columns] });

const attentionShapes = (name, width) =>
  Object.assign({}, ...["w_q", "w_k", "w_v", "w_o"].map((part) => linearShapes(`${name}.${part}`, width, width)));

/** The shapes of all tensors of a model, by the names that they have in its file of weights. */
function listShapes(config) {
  const { d_model: width, d_ff: inner, source_vocab_size: source, target_vocab_size: target } = config;
  const norm = (name) => (config.norm === "none" ? {} : { [`${name}.weight`]: [width], [`${name}.bias`]: [width] });
  const shapes = { "source_embedding.weight": [source, width], "target_embedding.weight": [target, width] };
  if (config.positions === "learned") {
    for (const side of ["source", "target"]) shapes[`${side}_positions.table.weight`] = [config.max_length, width];
  }
  for (const [side, parts] of [["encoder", ["self_attention"]], ["decoder", ["self_attention", "cross_attention"]]]) {
    for (let layer = 0; layer < config[`num_${side}_layers`]; layer++) {
      const name = `${side}.layers.${layer}`;
      for (const part of parts) Object.assign(shapes, attentionShapes(`${name}.${part}`, width));
      Object.assign(shapes, linearShapes(`${name}.feed_forward.w_1`, width, inner), linearShapes(`${name}.feed_forward.w_2`, inner, width));
      for (let i = 0; i <= parts.length; i++) Object.assign(shapes, norm(`${name}.add_norm_${i + 1}.layer_norm`));
    }
    if (config.norm === "pre") Object.assign(shapes, norm(`${side}.final_norm`));
  }
  return { ...shapes, "output.bias": [target] }; // the output's matrix is the target's embedding (§3.4)
}

/**
 * The parameters, each as { at, rows, columns, gradient }, nested as their names say.
 *
 * A linear layer's matrix lies as (in, out), as the paper writes it: y = x W + b. Sizes are rounded up to a multiple
 * of 4 with zeros, because a vocabulary may have any size.
 */
export class Parameters {
  constructor(memory, config) {
    this.memory = memory;
    this.shapes = listShapes(config);
    const names = Object.keys(this.shapes);
    const isMatrix = (name) => this.shapes[name].length === 2;
    this.start = memory.end;
    this.named = new Map();
    const place = (name) => {
      const shape = this.shapes[name];
      const [rows, columns] = isMatrix(name) && !isEmbedding(name) ? [shape[1], shape[0]] : shape.length === 2 ? shape : [1, shape[0]];
      this.named.set(name, memory.matrix(roundUp(rows, rows === 1 ? 1 : 4), roundUp(columns)));
    };
    names.filter(isMatrix).forEach(place);
    this.matrices = memory.end - this.start; // weight decay is for these alone
    names.filter((name) => !isMatrix(name)).forEach(place);
    this.count = memory.end - this.start;
    this.gradients = memory.take(this.count);
    this.moments = [memory.take(this.count), memory.take(this.count)];
    memory.values.fill(0, this.start, memory.end);
    for (const parameter of this.named.values()) parameter.gradient = parameter.at - this.start + this.gradients;
    this.nested = this.nest();
  }

  nest() {
    const root = {};
    for (const [name, parameter] of this.named) {
      const path = name.split(".");
      const last = path.pop();
      path.reduce((place, step) => (place[step] ??= {}), root)[last] = parameter;
    }
    return root;
  }

  /** How many parameters there are, without what rounds sizes up. */
  countNumbers() {
    return Object.values(this.shapes).reduce((sum, shape) => sum + shape.reduce((product, size) => product * size), 0);
  }

  /** Draw the first values, as Python's `initialise` does: the same ones from the same seed. */
  initialise(seed) {
    const empty = ([rows, columns]) => (columns ? new Vectors(rows, columns) : new Float32Array(rows));
    this.write(initialiseTensors(Object.fromEntries(Object.entries(this.shapes).map(([name, shape]) => [name, empty(shape)])), seed));
  }

  /** Put tensors in place, as `readSafetensors` gives them; an Error names one that's missing or has another shape. */
  write(tensors) {
    for (const [name, shape] of Object.entries(this.shapes)) {
      const tensor = tensors[name];
      const found = tensor instanceof Vectors ? [tensor.rows, tensor.columns] : tensor && [tensor.length];
      if (String(found) !== String(shape)) throw new Error(`${name} is ${found ? `(${found})` : "missing"}; expected the shape (${shape})`);
      const numbers = tensor instanceof Vectors ? tensor.values : tensor;
      this.eachNumber(name, (at, i) => (this.memory.values[at] = numbers[i]));
    }
  }

  /** The tensors as they are now, in PyTorch's shapes; `start` may be that of the gradients. */
  read(start = this.start) {
    return Object.fromEntries(Object.entries(this.shapes).map(([name, shape]) => {
      const numbers = new Float32Array(shape.reduce((product, size) => product * size));
      this.eachNumber(name, (at, i) => (numbers[i] = this.memory.values[at - this.start + start]));
      return [name, shape.length === 2 ? new Vectors(...shape, numbers) : numbers];
    }));
  }

  /** Call `use(address, index)` for each number of a tensor; the index counts as PyTorch does. */
  eachNumber(name, use) {
    const { at, columns } = this.named.get(name);
    const [rows, width] = this.shapes[name].length === 2 ? this.shapes[name] : [1, this.shapes[name][0]];
    const turned = this.shapes[name].length === 2 && !isEmbedding(name);
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < width; j++) use(at + (turned ? j * columns + i : i * columns + j), i * width + j);
    }
  }
}
