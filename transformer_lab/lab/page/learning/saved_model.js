// A model and its two tokenizers as one file: what Python's `Translator.save("….safetensors")` writes, and its `load` reads.

import { readSafetensors, writeSafetensors } from "../engine/safetensors.js";
import { FORMAT, readDescription } from "../engine/saved_file.js";
import { makeTokenizer } from "../engine/tokenizer.js";
import { Vectors } from "../engine/vectors.js";
import { completeModel, describeWhole } from "./config.js";

/**
 * Return the file of a learner's model, an ArrayBuffer. `source` and `target` are its tokenizers' states, as
 * `makeTokenizer` takes them, and `example` a source to begin with.
 *
 * An Error says which of the paper's parts the model was trained without, or what else doesn't fit.
 */
export function packModel({ config, steps, model }, { source, target }, example) {
  const tensors = model.parameters.read();
  for (const [name, tensor] of Object.entries(tensors)) {
    const numbers = tensor instanceof Vectors ? tensor.values : tensor;
    if (!numbers.every(Number.isFinite)) throw new Error(`${name} contains NaN or infinity; expected finite numbers`);
  }
  checkVocabularies(config, { source, target });
  const meta = { format: FORMAT, model: describeWhole(config), about: { steps, example }, source_tokenizer: source, target_tokenizer: target };
  return writeSafetensors(tensors, { meta: JSON.stringify(meta) });
}

/**
 * Return what such a file holds: { config, tensors, source, target }, of which `config` is as `completeModel` gives it.
 *
 * An Error says what's missing, or which field of the configuration the page can't train.
 */
export function unpackModel(buffer) {
  const tensors = readSafetensors(buffer);
  const { model, source_tokenizer: source, target_tokenizer: target } = readDescription(buffer);
  const config = completeModel(model);
  checkVocabularies(config, { source, target });
  return { config, tensors, source, target };
}

/** Throw an Error unless each tokenizer has as many tokens as the model has embeddings. */
function checkVocabularies(config, states) {
  for (const [side, state] of Object.entries(states)) {
    const { words, pieces = words } = makeTokenizer(state);
    const size = config[`${side}_vocab_size`];
    if (pieces.length !== size) throw new Error(`${side}_vocab_size is ${size}; expected ${pieces.length}, as many as the tokenizer has tokens`);
  }
}
