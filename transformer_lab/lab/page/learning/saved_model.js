// A model and its two tokenizers as one file: what Python's `Translator.save("….safetensors")` writes, and its `load` reads.

import { readMetadata, readSafetensors, writeSafetensors } from "../engine/safetensors.js";
import { makeTokenizer } from "../engine/tokenizer.js";
import { Vectors } from "../engine/vectors.js";
import { completeModel, describeWhole } from "./config.js";

const FORMAT = "transformer_lab 1"; // as in Python's storage/folder.py

/**
 * Return the file of a learner's model, an ArrayBuffer. `source` and `target` are its tokenizers' states, as
 * `makeTokenizer` takes them.
 *
 * An Error says which of the paper's parts the model was trained without, or what else doesn't fit.
 */
export function packModel({ config, steps, model }, { source, target }) {
  const tensors = model.parameters.read();
  for (const [name, tensor] of Object.entries(tensors)) {
    const numbers = tensor instanceof Vectors ? tensor.values : tensor;
    if (!numbers.every(Number.isFinite)) throw new Error(`${name} has NaN or infinity; expected finite numbers`);
  }
  checkVocabularies(config, { source, target });
  const meta = { format: FORMAT, model: describeWhole(config), about: { steps }, source_tokenizer: source, target_tokenizer: target };
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

function readDescription(buffer) {
  const { meta } = readMetadata(buffer);
  const expected = "expected a translator that was saved as one file";
  if (!meta) throw new Error(`the file holds no description of a model; ${expected}`);
  const description = JSON.parse(meta);
  const { format } = description;
  if (format !== FORMAT) throw new Error(`the file's format is ${JSON.stringify(format)}; expected ${JSON.stringify(FORMAT)}`);
  for (const name of ["model", "source_tokenizer", "target_tokenizer"]) {
    if (!description[name]) throw new Error(`the file has no ${name}; ${expected}`);
  }
  return description;
}

/** Throw an Error unless each tokenizer has as many tokens as the model has embeddings. */
function checkVocabularies(config, states) {
  for (const [side, state] of Object.entries(states)) {
    const { words, pieces = words } = makeTokenizer(state);
    const size = config[`${side}_vocab_size`];
    if (pieces.length !== size) throw new Error(`${side}_vocab_size is ${size}; expected ${pieces.length}, as many as the tokenizer has tokens`);
  }
}
