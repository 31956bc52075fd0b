// The encoder-decoder of Figure 1, one sentence at a time.

import { attend, keysAndValues } from "./attention.js";
import { addPositions } from "./positions.js";
import { useKernel } from "./product.js";
import { initialiseTensors } from "./untrained.js";
import { activations, addVectors, layerNorm, linear, stackVectors, Vectors } from "./vectors.js";
import { NO_HOOKS } from "./hooks.js";

/** Parameters by name, a level for each dot: `layers.0.w_q.weight` becomes layers[0].w_q.weight. */
function nestTensors(tensors) {
  const root = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const path = name.split(".");
    const last = path.pop();
    let place = root;
    for (const step of path) place = place[step] ??= {};
    place[last] = tensor;
  }
  return root;
}

/** The linear layers among nested parameters: all that have a matrix and a bias. */
function findLinearLayers(parameters) {
  if (parameters instanceof Vectors || ArrayBuffer.isView(parameters)) return [];
  const inside = Object.values(parameters).flatMap(findLinearLayers);
  return parameters.weight instanceof Vectors && parameters.bias ? [parameters, ...inside] : inside;
}

export class Transformer {
  /** `config` as in config.json ("model"), `tensors` as `readSafetensors` gives them. */
  constructor(config, tensors) {
    Object.assign(this, { config, tensors });
    this.parameters = nestTensors(tensors);
    const { source_embedding: source, target_embedding: target, output } = this.parameters;
    this.target = (config.tie_source_target ? source : target ?? source).weight;
    this.source = source.weight;
    if (config.tie_target_output) output.weight = this.target;
    this.output = output;
    useKernel(findLinearLayers(this.parameters));
  }

  /** The same model before it has learnt anything. */
  makeUntrained(seed) {
    return new Transformer(this.config, initialiseTensors(this.tensors, seed));
  }

  /** The memory: one vector for each word of the source. */
  encode(ids, hooks = NO_HOOKS) {
    let x = this.embed(this.source, ids, 0, this.parameters.source_positions);
    this.getLayers("encoder").forEach((layer, number) => {
      const attention = (y) =>
        attend(y, keysAndValues(y, layer.self_attention), layer.self_attention, this.makeAttendOptions("encoder", number, hooks));
      x = this.addNorm(x, layer.add_norm_1, attention);
      x = this.addNorm(x, layer.add_norm_2, (y) => this.feedForward(y, layer.feed_forward));
      hooks.residual("encoder", number, x);
    });
    return this.applyFinalNorm(x, "encoder");
  }

  /** What the decoder keeps of a memory and, to begin with, of no word: a past. */
  begin(memory) {
    return this.getLayers("decoder").map((layer) => ({
      words: null,
      memory: keysAndValues(memory, layer.cross_attention),
    }));
  }

  /**
   * Read more words of the target behind a past.
   *
   * Returns the logits of the word after each of them, and the past with them in it; the past that
   * was given stays as it was.
   */
  decode(ids, past, hooks = NO_HOOKS) {
    const start = past[0].words?.keys.rows ?? 0;
    let x = this.embed(this.target, ids, start, this.parameters.target_positions);
    const grown = this.getLayers("decoder").map((layer, number) => {
      let words = null;
      x = this.addNorm(x, layer.add_norm_1, (y) => {
        const fresh = keysAndValues(y, layer.self_attention);
        const { words: before } = past[number];
        words = before
          ? { keys: stackVectors(before.keys, fresh.keys), values: stackVectors(before.values, fresh.values) }
          : fresh;
        return attend(y, words, layer.self_attention, { ...this.makeAttendOptions("decoder", number, hooks, start), start });
      });
      const { memory } = past[number];
      x = this.addNorm(x, layer.add_norm_2, (y) =>
        attend(y, memory, layer.cross_attention, this.makeAttendOptions("cross", number, hooks, start)));
      x = this.addNorm(x, layer.add_norm_3, (y) => this.feedForward(y, layer.feed_forward));
      hooks.residual("decoder", number, x);
      return { words, memory };
    });
    return { logits: linear(this.applyFinalNorm(x, "decoder"), this.output), past: grown };
  }

  getLayers(side) {
    const count = this.config[`num_${side}_layers`];
    return Array.from({ length: count }, (_, number) => this.parameters[side].layers[number]);
  }

  /** How the heads of a layer attend, and who looks on; cross-attention knows no distances. */
  makeAttendOptions(kind, layer, hooks, first = 0) {
    const positions = kind === "cross" ? undefined : this.config.positions;
    return { heads: this.config.num_heads, positions, hooks: hooks.of(kind, layer, first) };
  }

  /** The ids' vectors × √d_model (§3.4), with their positions from `start` on. */
  embed(table, ids, start, positions) {
    const x = new Vectors(ids.length, this.config.d_model);
    const scale = Math.sqrt(this.config.d_model);
    ids.forEach((id, i) => x.row(i).set(table.row(id).map((value) => value * scale)));
    return addPositions(this.config.positions, x, start, positions?.table.weight);
  }

  /** LayerNorm(x + Sublayer(x)), or with the norm first x + Sublayer(LayerNorm(x)). */
  addNorm(x, { layer_norm: norm }, sublayer) {
    return this.config.norm === "pre"
      ? addVectors(x, sublayer(layerNorm(x, norm)))
      : layerNorm(addVectors(x, sublayer(x)), norm);
  }

  /** w_2 · activation(w_1 · x) (§3.3, equation 2). */
  feedForward(x, { w_1, w_2 }) {
    const hidden = linear(x, w_1);
    const activation = activations[this.config.activation ?? "relu"];
    return linear(new Vectors(hidden.rows, hidden.columns, hidden.values.map(activation)), w_2);
  }

  applyFinalNorm(x, side) {
    return this.config.norm === "pre" ? layerNorm(x, this.parameters[side].final_norm) : x;
  }
}
